#!/bin/sh
echo x >> src/a.txt; echo y >> docs/guide.md
