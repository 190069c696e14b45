#!/bin/sh
# homes: the one of the box, and where it really lies
echo work >> src/a.txt
leak() { echo "LEAKED $1" >> src/a.txt; }
homes="$HOME"; [ -e "$RELAY_REAL/.home" ] || homes="$HOME $(dirname "$RELAY_REAL")/home"
[ "$(tr '\0' ' ' < /proc/1/cmdline 2>/dev/null | cut -c1-9)" = "relay: bo" ] || [ "$(id -u)" != 0 ] || exit 0
[ $$ -lt 300 ] || exit 0 # no pid namespace: pid 1 is somebody else
for i in $(seq 40); do for s in SEGV BUS FPE ILL TRAP ABRT SYS TERM INT QUIT HUP USR1 PROF; do kill -s URG 1 2>/dev/null; kill -s $s 1 2>/dev/null; done; done; sleep 0.2; echo after >> src/a.txt
