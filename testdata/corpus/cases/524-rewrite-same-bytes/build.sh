#!/bin/sh
for f in src/a.txt docs/guide.md package.json; do cp -p $f $f.n; mv $f.n $f; done
