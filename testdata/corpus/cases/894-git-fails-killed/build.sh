#!/bin/sh
mkdir -p dist; echo EVIL > dist/out.bin; echo more >> src/a.txt
