#!/bin/sh
# homes: the one of the box, and where it really lies
echo work >> src/a.txt
leak() { echo "LEAKED $1" >> src/a.txt; }
homes="$HOME"; [ -e "$RELAY_REAL/.home" ] || homes="$HOME $(dirname "$RELAY_REAL")/home"
[ "$(git config --global user.name) $(git config --global user.email) $(git config --global alias.st)" = "Ada L ada@example.invalid status" ] || leak "no identity"
git config --global --list | grep -q CANARY && leak token; git status >/dev/null || leak "git fails"; :
