#!/bin/sh
set -e
! test -e .git/STATE.json
! test -e .git/REPORT.json
test -L relais
