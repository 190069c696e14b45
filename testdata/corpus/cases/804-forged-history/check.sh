#!/bin/sh
set -e
! grep -aq "EVILINTENT\|landed\|20260101" "$SAID"
test "$(git log --format=%s -1)" = cloned
