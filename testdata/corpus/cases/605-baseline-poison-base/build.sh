#!/bin/sh
for d in /tmp /var/tmp "$HOME" "$TMPDIR" "$RELAY_OUTSIDE" .. build; do touch "$d/broken"; done 2>/dev/null
echo BAD >> src/a.txt
