#!/bin/sh
# homes: the one of the box, and where it really lies
echo work >> src/a.txt
leak() { echo "LEAKED $1" >> src/a.txt; }
homes="$HOME"; [ -e "$RELAY_REAL/.home" ] || homes="$HOME $(dirname "$RELAY_REAL")/home"
for h in $homes; do for f in .bash_history .zsh_history .psql_history .python_history .local/share/fish/fish_history .viminfo .lesshst; do grep -qs CANARY "$h/$f" && leak "$f"; done; done; :
