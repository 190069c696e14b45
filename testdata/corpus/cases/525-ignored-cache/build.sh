#!/bin/sh
echo x >> src/a.txt; mkdir -p build/cache; seq 1 2000 > build/cache/x; echo log > debug.log
