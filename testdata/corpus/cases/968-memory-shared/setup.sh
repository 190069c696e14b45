#!/bin/sh
set -e
jq '.box.limits = {"memory_mb": 200}' relais.config.json > ../c.json
mv ../c.json relais.config.json
git add -A
git commit -qm limits
