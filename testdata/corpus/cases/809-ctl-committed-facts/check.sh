#!/bin/sh
set -e
grep -q work src/a.txt
grep -q "and one of mine" relais/FACTS.md
grep -q more relais/FACTS.md
git diff --cached --quiet
