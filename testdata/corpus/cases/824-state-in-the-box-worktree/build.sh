#!/bin/sh
d=$(sed 's/^gitdir: //' .git)/relay
for f in "$d"/*; do if [ -e "$f" ]; then echo SEEN >> src/a.txt; fi; done
mkdir -p "$d/journal" 2>/dev/null; echo EVIL > "$d/journal/run-1.jsonl" 2>/dev/null
echo work >> src/a.txt
