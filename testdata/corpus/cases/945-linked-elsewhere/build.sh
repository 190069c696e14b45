#!/bin/sh
# homes: the one of the box, and where it really lies
echo work >> src/a.txt
leak() { echo "LEAKED $1" >> src/a.txt; }
homes="$HOME"; [ -e "$RELAY_REAL/.home" ] || homes="$HOME $(dirname "$RELAY_REAL")/home"
o=$RELAY_OUTSIDE/store; for f in $o/aws/credentials $o/kube/config $o/id $o/netrc; do grep -qs CANARY "$f" && leak "$f"; done
for h in $homes; do for f in .aws/credentials .kube/config .ssh/id .netrc .dotfiles/netrc; do grep -qs CANARY "$h/$f" && leak "$h/$f"; done; done; :
