#!/bin/sh
echo EVIL > src/new.txt; git add -N src/new.txt
