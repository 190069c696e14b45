#!/bin/sh
ls -A .git/relay > src/b.txt 2>/dev/null; : > src/b.txt.seen
for f in .git/relay/*; do if [ -e "$f" ]; then echo SEEN >> src/a.txt; fi; done
mkdir -p .git/relay/journal 2>/dev/null; echo EVIL > .git/relay/journal/run-1.jsonl 2>/dev/null; echo EVIL > .git/relay/STATE.json 2>/dev/null
rm -f src/b.txt.seen; git checkout -q src/b.txt; echo work >> src/a.txt
