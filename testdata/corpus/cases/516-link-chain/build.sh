#!/bin/sh
ln -s lib src/x; ln -s ../../docs src/lib/y; echo EVIL >> src/x/y/guide.md
