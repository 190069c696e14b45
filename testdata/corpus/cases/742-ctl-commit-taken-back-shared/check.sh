#!/bin/sh
set -e
grep -q 'in scope' src/a.txt && test -f src/new/x
