#!/bin/sh
set -e
! test -e .git/hooks/pre-commit
grep -q "journal is damaged" "$SAID"
