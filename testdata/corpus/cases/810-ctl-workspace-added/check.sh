#!/bin/sh
set -e
grep -q work src/a.txt
test -z "$(git status --porcelain -- relais | grep -v "^??")"
test -z "$(git ls-files -- relais | xargs git diff --name-only HEAD --)"
