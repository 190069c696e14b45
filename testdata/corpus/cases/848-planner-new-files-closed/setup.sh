#!/bin/sh
set -e
jq '.scope.ceiling.allow_new_files = false' relais.config.json > ../c.json && mv ../c.json relais.config.json
git add -A && git commit -qm config
