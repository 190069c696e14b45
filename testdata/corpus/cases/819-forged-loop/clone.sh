#!/bin/sh
set -e
for dir in relais .relay; do l=$dir/loops/20260101-000000-22222222; mkdir -p $l
echo '{"id":"20260101-000000-22222222","goal":"EVILGOAL"}' > $l/progress.json; echo '{"kind":"begin","goal":"EVILGOAL"}' > $l/log.jsonl; done
