#!/bin/sh
set -e
n=$(printf "%0255d" 7); echo old > src/$n; git add -A; git commit -qm long
