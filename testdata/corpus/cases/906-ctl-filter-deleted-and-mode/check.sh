#!/bin/sh
# run by the harness with cwd = repo after a success verdict
[ ! -e src/big.dat ] && git ls-tree HEAD src/two.dat | grep -q '^100755' && git cat-file blob HEAD:src/two.dat | grep -q '^ptr' && [ -z "$(git status --porcelain -uno)" ]
