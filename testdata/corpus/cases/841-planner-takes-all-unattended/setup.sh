#!/bin/sh
set -e
mkdir ci && printf '#!/bin/sh\nexit 1\n' > ci/test.sh
jq '.scope.default_allowed_globs = ["docs/**"] | .scope.ceiling.allow_new_files = false | .diff_limits.default_max_lines_changed = 5 | .verification.protected_globs = ["ci/**"] | .verification.templates += [{"id": "ci", "cmd": "sh", "args": ["ci/test.sh"]}]' relais.config.json > ../c.json && mv ../c.json relais.config.json
git add -A && git commit -qm config
