#!/bin/sh
set -e
echo 'in scope' >> src/a.txt; git -C vendor/sub fetch -q; git submodule update; git submodule foreach git status; git diff --submodule
