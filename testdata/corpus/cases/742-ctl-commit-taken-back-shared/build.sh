#!/bin/sh
set -e
echo 'in scope' >> src/a.txt; mkdir src/new; echo x > src/new/x
git add -A; git commit -qm x; git reset -q --soft HEAD~1; git tag t; git tag -d t
