#!/bin/sh
set -e
for f in STATE.json REPORT.json TASK.json usage.jsonl; do ln -sf ../../outside/victim.txt relais/$f; done; rm -rf relais/history; ln -s ../../outside/d relais/history; ln -s ../../outside/d relais/logs
