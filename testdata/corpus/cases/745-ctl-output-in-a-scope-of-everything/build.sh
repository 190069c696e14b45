#!/bin/sh
set -e
echo 'in scope' >> src/a.txt; echo made >> build/out.o; mkdir -p build/d; seq 1 3000 > build/d/x; ln -s d build/l; echo log > npm-debug.log
