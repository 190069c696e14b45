#!/bin/sh
set -e
cat > tests/run.sh <<'T'
n=0; bad=0
for f in a b; do n=$((n+1))
if grep -q BAD src/$f.txt; then echo "not ok $n - $f"; bad=1; else echo "ok $n - $f"; fi; done
[ ! -f src/lib/c.txt ] || { n=$((n+1)); echo "ok $n - c"; }
echo "1..$n"; exit $bad
T
cat > src/b.txt <<'T'
BAD
T
jq '.verification.baseline = true | .verification.test_globs = ["tests/**"] | .verification.templates += [{"id": "run", "cmd": "sh", "args": ["tests/run.sh"], "results": "tap"}]' relais.config.json > ../c.json
mv ../c.json relais.config.json
git add -A
git commit -qm 'checks with a baseline'
