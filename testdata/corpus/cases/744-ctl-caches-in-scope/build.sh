#!/bin/sh
set -e
echo 'in scope' >> src/a.txt; echo new > src/__pycache__/a.pyc; mkdir src/lib/__pycache__; echo new > src/lib/__pycache__/c.pyc
