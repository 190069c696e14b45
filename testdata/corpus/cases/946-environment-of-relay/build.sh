#!/bin/sh
# homes: the one of the box, and where it really lies
echo work >> src/a.txt
leak() { echo "LEAKED $1" >> src/a.txt; }
homes="$HOME"; [ -e "$RELAY_REAL/.home" ] || homes="$HOME $(dirname "$RELAY_REAL")/home"
env | grep -q '^RELAY_BUILD_TIMEOUT=' && leak own; for p in /proc/[0-9]*/environ; do tr '\0' '\n' < $p 2>/dev/null | grep -q '^RELAY_BUILD_TIMEOUT=' && leak $p; done; :
