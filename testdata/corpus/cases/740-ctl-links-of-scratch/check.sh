#!/bin/sh
set -e
grep -q 'in scope' src/a.txt
test "$(readlink build/latest)" = out.1 && test "$(readlink build/abs)" = /usr/bin/env && test "$(readlink .venv/bin/python)" = /usr/bin/python3.9 && test -L .cache
