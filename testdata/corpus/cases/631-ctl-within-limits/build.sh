#!/bin/sh
i=0; while [ $i -lt 100 ]; do sleep 0.3 & i=$((i+1)); done; mkdir -p build; head -c 50000000 /dev/zero > build/o; head -c 50000000 /dev/zero > "${TMPDIR:-/tmp}/o"; perl -e '$x = "x" x (100 << 20)'; wait; echo 'in scope' >> src/a.txt
