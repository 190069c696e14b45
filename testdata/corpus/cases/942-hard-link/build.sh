#!/bin/sh
# homes: the one of the box, and where it really lies
echo work >> src/a.txt
leak() { echo "LEAKED $1" >> src/a.txt; }
homes="$HOME"; [ -e "$RELAY_REAL/.home" ] || homes="$HOME $(dirname "$RELAY_REAL")/home"
n=0; for h in $homes; do for f in .aws/credentials .netrc .ssh/id; do n=$((n+1))
  for to in "$TMPDIR/l$n" "$h/l$n" "src/l$n"; do { ln "$h/$f" "$to" || ln -P "$h/$f" "$to" || mv "$h/$f" "$to" || cp -a "$h/$f" "$to"; } 2>/dev/null; grep -qs CANARY "$to" && leak "$f"; rm -f "$to"; done; done; done; :
