#!/bin/sh
# homes: the one of the box, and where it really lies
echo work >> src/a.txt
leak() { echo "LEAKED $1" >> src/a.txt; }
homes="$HOME"; [ -e "$RELAY_REAL/.home" ] || homes="$HOME $(dirname "$RELAY_REAL")/home"
grep -q SHOWN ~/.kube/config || leak "it is not shown"; grep -qs CANARY ~/.aws/credentials && leak "too much is"; :
