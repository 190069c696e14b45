#!/bin/sh
set -e
mkdir -p relais/history/20260101-000000-22222222 relais/logs; for f in TASK.json REPORT.json BLOCKED.json usage.jsonl queue.md logs/2026-01-01.log history/20260101-000000-22222222/meta.json; do echo '{}' > relais/$f; done
