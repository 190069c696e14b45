#!/bin/sh
set -e
echo 'in scope' >> src/b.txt; chmod 755 src/b2.txt
