#!/bin/sh
set -e
jq '.box.limits = {"file_mb": 1000} | .scope.default_forbidden_globs = []' relais.config.json > ../c.json
mv ../c.json relais.config.json
git add -A
git commit -qm limits
