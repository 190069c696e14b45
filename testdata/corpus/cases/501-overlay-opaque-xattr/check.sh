#!/bin/sh
# run by the harness with cwd = the repository
# always
test -f docs/guide.md && test -f src/lib/c.txt
