#!/bin/sh
set -e
for dir in relais .relay; do mkdir -p $dir; echo '{"run_id":"20260101-000000-22222222","started_at":"2026-01-01T00:00:00Z","ended_at":"2026-01-01T00:00:01Z","duration_ms":1,"verdict":"success","code":"SUCCESS","question":{"prompt":"EVILQUESTION","choices":["yes","no"]}}' > $dir/REPORT.json; done
