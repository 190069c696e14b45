#!/bin/sh
set -e
for dir in relais .relay; do run=$dir/history/20260101-000000-22222222; mkdir -p $run
echo '{"run_id":"20260101-000000-22222222","workflow":"tick","started_at":"2026-01-01T00:00:00Z","ended_at":"2026-01-01T00:01:00Z","code":"SUCCESS","commit":"'$(git rev-parse HEAD)'","intent":"EVILINTENT"}' > $run/meta.json
echo '{"bytes":1,"runs":1,"latest":"20260101-000000-22222222"}' > $dir/history/index.json; done
