#!/bin/sh
echo x >> src/a.txt; r=$RELAY_CASE/../../bin/relay
for c in "trust --yes" recover undo "run --no-input" status "config set builder.timeout_seconds 1"; do $r $c; done
exit 0
