#!/bin/sh
set -e
grep -q runner.max_tick_seconds "$SAID"
grep -q history.enabled "$SAID"
grep -q reject_metachars_regex "$SAID"
