#!/bin/sh
set -e
grep -q 'in scope' src/b.txt && test -x src/b2.txt && ! grep -q 'in scope' src/b2.txt
