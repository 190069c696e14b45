#!/bin/sh
set -e
jq '.box.network = {"builder": "hosts", "hosts": ["api.listed.invalid", "*.cdn.listed.invalid:8443"]}' relais.config.json > ../c.json
mv ../c.json relais.config.json
git add -A
git commit -qm limits
