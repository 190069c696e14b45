#!/bin/sh
set -e
grep -q 'in scope' src/a.txt && grep -qx obj build/out.o && test ! -e build/d && test ! -e npm-debug.log
