#!/bin/sh
echo 'in scope' >> src/a.txt; touch vendor/sub/x third/lib/x
git status; git diff; git -C vendor/sub status; git -C third/lib status
