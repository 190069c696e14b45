#!/bin/sh
rm -r src/lib; ln -s ../docs src/lib; echo EVIL >> src/lib/guide.md
