#!/bin/sh
set -e
jq '.box.network = {"builder": "none"} | .verification.templates += [{"id": "run", "cmd": "sh", "args": ["src/check.sh"]}]' relais.config.json > ../c.json
mv ../c.json relais.config.json
echo '. "$(dirname "$0")/body.sh"' > src/check.sh; : > src/body.sh
git add -A
git commit -qm limits
