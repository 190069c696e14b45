#!/bin/sh
set -e
! grep -q EVILQUESTION "$SAID"
