#!/bin/sh
set -e
sed -i 's/return a$/return a + b/' calc.py
mkdir -p tools
printf 'def same(a, b):\n    return a == b\n' >tools/helpers.py
touch tools/__init__.py
