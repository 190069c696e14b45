#!/bin/sh
set -e
grep -q work src/a.txt
grep -q "do it" "$SAID"
