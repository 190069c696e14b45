#!/bin/sh
set -e
echo "in scope" >> src/a.txt; git stash -q; git stash pop -q
git checkout -q -b tmp; git checkout -q main; git branch -q -D tmp
git commit -qam x; git reset -q --soft HEAD~1; git reset -q; git diff --stat; git log -1 --stat; git blame src/a.txt
