#!/bin/sh
set -e
ln src/a.txt docs/linked.txt; git add -A; git commit -qm linked
