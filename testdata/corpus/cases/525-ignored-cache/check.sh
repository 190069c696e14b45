#!/bin/sh
# run by the harness with cwd = the repository
test ! -e build/cache && test ! -e debug.log && grep -q "^x$" src/a.txt
