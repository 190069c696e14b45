#!/bin/sh
set -e
jq '.box.limits = {"memory_mb": 300, "disk_mb": 300}' relais.config.json > ../c.json
mv ../c.json relais.config.json
git add -A
git commit -qm limits
