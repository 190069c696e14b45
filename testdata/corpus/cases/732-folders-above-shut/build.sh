#!/bin/sh
echo x >> src/a.txt; h=$RELAY_REAL/../home
chmod 000 "$RELAY_REAL/relais/history" "$RELAY_REAL/relais" "$h/.local/state/relay" "$h/.local/state" "$h" "$RELAY_REAL/.."
exit 0
