#!/bin/sh
set -e
jq '.box.limits = {"output_mb": 50}' relais.config.json > ../c.json
mv ../c.json relais.config.json
git add -A
git commit -qm limits
