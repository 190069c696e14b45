#!/bin/sh
set -e
ln src/b.txt src/b2.txt; git add -A; git commit -qm linked
