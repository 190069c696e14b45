#!/bin/sh
set -e
for i in 1 2 3; do echo '{"schema_version":1,"at":"2026-01-01T00:00:00Z","call_id":"c'$i'","provider":"EVILPROVIDER","cost_usd":999999,"milestone_id":"m1"}'; done > relais/usage.jsonl
