#!/bin/sh
set -e
ln -s sub src/to-sub; git add -A; git commit -qm link
