#!/bin/sh
set -e
cat > tests/run.sh <<'T'
. ./src/sub/d.txt
T
cat > src/sub/d.txt <<'T'
true
T
jq '.verification.baseline = true | .verification.test_globs = ["tests/**"] | .verification.templates += [{"id": "run", "cmd": "sh", "args": ["tests/run.sh"]}]' relais.config.json > ../c.json
mv ../c.json relais.config.json
git add -A
git commit -qm 'checks with a baseline'
