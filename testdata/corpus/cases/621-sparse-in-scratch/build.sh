#!/bin/sh
echo 'in scope' >> src/a.txt; mkdir -p build; truncate -s 1T build/huge; sleep 100
