#!/bin/sh
# homes: the one of the box, and where it really lies
echo work >> src/a.txt
leak() { echo "LEAKED $1" >> src/a.txt; }
homes="$HOME"; [ -e "$RELAY_REAL/.home" ] || homes="$HOME $(dirname "$RELAY_REAL")/home"
for f in .ssh/authorized_keys .netrc .ssh/new .aws/credentials; do mkdir -p "$HOME/$(dirname $f)" 2>/dev/null; echo EVIL >> "$HOME/$f"; done 2>/dev/null; :
