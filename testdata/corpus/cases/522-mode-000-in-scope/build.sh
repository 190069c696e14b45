#!/bin/sh
echo x >> src/a.txt; chmod 000 src/a.txt
