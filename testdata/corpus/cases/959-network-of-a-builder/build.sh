#!/bin/sh
# homes: the one of the box, and where it really lies
echo work >> src/a.txt
leak() { echo "LEAKED $1" >> src/a.txt; }
homes="$HOME"; [ -e "$RELAY_REAL/.home" ] || homes="$HOME $(dirname "$RELAY_REAL")/home"
[ "$(tail -n +3 /proc/net/dev | wc -l)" = 1 ] || leak network; grep -qs 00000000 /proc/net/route && leak route; :
