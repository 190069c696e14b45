#!/bin/sh
# run by the harness with cwd = the repository
# always
test -f src/sub/d.txt && test ! -e src/sub/guide.md
