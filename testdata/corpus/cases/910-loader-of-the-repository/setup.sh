#!/bin/sh
set -e
mkdir -p src/lib; echo no library > src/lib/libz.so.1; git add -A; git commit -qm lib
