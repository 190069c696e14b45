#!/bin/sh
echo more >> src/a.txt
for d in "$RELAY_REPO"/.git/relay "$RELAY_REAL"/.git/relay "$(dirname "$RELAY_REAL")"/home/.local/state/relay; do
  find "$d" \( -name boxes -o -name run \) -prune -o -type f -size +0 -print 2>/dev/null | while read -r f; do
    if head -c 20 "$f" >/dev/null 2>&1; then echo "STATE $f" >> src/a.txt; fi; done
done
exit 0
