#!/bin/sh
set -e
jq '.box.limits = {"disk_mb": 100}' relais.config.json > ../c.json
mv ../c.json relais.config.json
git add -A
git commit -qm limits
