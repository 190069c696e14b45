#!/bin/sh
set -e
grep -q work src/a.txt
! test -e .git/hooks/pre-commit
