#!/bin/sh
set -e
mkdir -p tools; printf '[core]\n\tabbrev = 12\n' > tools/settings; ln -s settings tools/link; git add -A; git commit -qm config; git config include.path ../tools/link
