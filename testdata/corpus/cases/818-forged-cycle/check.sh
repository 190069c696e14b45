#!/bin/sh
set -e
! grep -q EVIL "$SAID"
test "$(git log --format=%s -1)" = cloned
