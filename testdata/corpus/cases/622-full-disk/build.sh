#!/bin/sh
mkdir -p build; i=0; while :; do head -c 20000000 /dev/zero > build/$i.o; i=$((i+1)); done
