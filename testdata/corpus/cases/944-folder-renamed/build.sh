#!/bin/sh
# homes: the one of the box, and where it really lies
echo work >> src/a.txt
leak() { echo "LEAKED $1" >> src/a.txt; }
homes="$HOME"; [ -e "$RELAY_REAL/.home" ] || homes="$HOME $(dirname "$RELAY_REAL")/home"
for h in $homes; do mv "$h/.config" "$h/c2" 2>/dev/null; cp -a "$h/.config" "$h/c3" 2>/dev/null; rm -rf "$h/.netrc" "$h/.aws" 2>/dev/null
for f in c2/gh/hosts.yml c3/gh/hosts.yml .config/gh/hosts.yml .netrc .aws/credentials; do grep -qs CANARY "$h/$f" && leak "$f"; done; done; :
