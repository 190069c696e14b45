#!/bin/sh
set -e
! grep -q EVILGOAL "$SAID"
