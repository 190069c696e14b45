#!/bin/sh
set -e
grep -q 'in scope' src/a.txt && grep -qx old src/__pycache__/a.pyc && test ! -e src/lib/__pycache__
