#!/bin/sh
set -e
grep -q work src/a.txt
grep -q 9999 relais/STATE.json
! grep -q 9999 .git/relay/STATE.json
