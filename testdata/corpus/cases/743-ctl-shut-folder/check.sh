#!/bin/sh
set -e
grep -q 'in scope' src/sub/d.txt && grep -q 'in scope' src/lib/c.txt && test "$(stat -c %a src/sub src/lib | tr '\n' ' ')" = '555 555 '
