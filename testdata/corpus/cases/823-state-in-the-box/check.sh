#!/bin/sh
set -e
! grep -q SEEN src/a.txt
! grep -rqs EVIL .git/relay
