#!/bin/sh
mkdir -p build/d; cd build/d; chmod 300 .; i=0; while [ $i -lt 40 ]; do head -c 20000000 /dev/zero > $i.o; i=$((i+1)); done; sleep 100
