#!/bin/sh
set -e
mkdir delta vim && echo x > delta/a.txt && echo y > vim/b.txt && git add -A && git commit -qm names
git config core.pager delta; git config core.editor vim; git config filter.lfs.clean 'git-lfs clean -- %f'; git config credential.helper '!sh src'
