#!/bin/sh
set -e
! grep -q SEEN src/a.txt
! grep -rqs EVIL "$(sed 's/^gitdir: //' .git)/relay"
