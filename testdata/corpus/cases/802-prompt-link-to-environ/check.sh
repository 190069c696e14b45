#!/bin/sh
set -e
! grep -aqs CANARYSECRET "$SAID"
test -z "$(grep -rlas CANARYSECRET . 2>/dev/null)"
