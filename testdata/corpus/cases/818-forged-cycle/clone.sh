#!/bin/sh
set -e
for dir in relais .relay; do c=$dir/cycles/11111111-2222-4333-8444-555555555555; mkdir -p $c
echo '{"schema_version":1,"uuid":"11111111-2222-4333-8444-555555555555","service_id":"EVIL","state":"AWAITING_ACCEPTANCE","iteration":1,"branch":"side","started_at":"2026-01-01T00:00:00Z"}' > $c/state.json
printf '# EVILPLAN\n' > $c/plan.md; echo '{}' > $c/log.jsonl; done
