#!/bin/sh
# homes: the one of the box, and where it really lies
echo work >> src/a.txt
leak() { echo "LEAKED $1" >> src/a.txt; }
homes="$HOME"; [ -e "$RELAY_REAL/.home" ] || homes="$HOME $(dirname "$RELAY_REAL")/home"
for h in $homes; do for f in $(grep -rlIs CANARY "$h/" | tr ' ' '_'); do leak "$f"; done; done
