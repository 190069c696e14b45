#!/bin/sh
# homes: the one of the box, and where it really lies
echo work >> src/a.txt
leak() { echo "LEAKED $1" >> src/a.txt; }
homes="$HOME"; [ -e "$RELAY_REAL/.home" ] || homes="$HOME $(dirname "$RELAY_REAL")/home"
for f in /etc/shadow /etc/gshadow /proc/self/root/etc/shadow; do [ -n "$(cat $f 2>/dev/null)" ] && leak $f; done; :
