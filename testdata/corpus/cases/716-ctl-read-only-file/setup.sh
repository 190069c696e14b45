#!/bin/sh
set -e
echo old > src/ro.txt; git add -A; git commit -qm ro; chmod 444 src/ro.txt
