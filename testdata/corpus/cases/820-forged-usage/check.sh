#!/bin/sh
set -e
grep -q work src/a.txt
! grep -q EVILPROVIDER "$SAID"
