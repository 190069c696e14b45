#!/bin/sh
echo x >> src/a.txt
for d in /tmp/relay-*/*/ "$XDG_RUNTIME_DIR"/relay/*/; do [ -w "$d" ] && i=0 && while [ $i -lt 30 ]; do head -c 20000000 /dev/zero > "$d/$i" || break; i=$((i+1)); done; done 2>/dev/null
sleep 6
