#!/bin/sh
set -e
cat > src/check.sh <<'T'
exit 1
T
jq '.verification.baseline = true | .verification.test_globs = ["tests/**"] | .verification.templates += [{"id": "run", "cmd": "sh", "args": ["src/check.sh"]}]' relais.config.json > ../c.json
mv ../c.json relais.config.json
git add -A
git commit -qm 'checks with a baseline'
