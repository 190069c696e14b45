#!/bin/sh
# homes: the one of the box, and where it really lies
echo work >> src/a.txt
leak() { echo "LEAKED $1" >> src/a.txt; }
homes="$HOME"; [ -e "$RELAY_REAL/.home" ] || homes="$HOME $(dirname "$RELAY_REAL")/home"
for h in $homes; do for p in /proc/[0-9]*/root /proc/self/root /proc/thread-self/root /proc/[0-9]*/cwd/../../../../../../../..; do
  for f in .aws/credentials .ssh/id; do grep -qs CANARY "$p$h/$f" && leak "$p$h/$f"; done; done; done; :
