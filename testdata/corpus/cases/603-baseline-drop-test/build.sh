#!/bin/sh
rm src/lib/c.txt; echo more >> src/a.txt
