#!/bin/sh
# run by the harness with cwd = the repository
test ! -e .git/hooks/post-commit && [ "$(git log -1 --format=%s)" = base1 ]
