#!/bin/sh
set -e
jq '.scope.default_allowed_globs = ["src/**"]' relais.config.json > ../c.json && mv ../c.json relais.config.json
git add -A && git commit -qm config
