#!/bin/sh
set -e
mkdir -p tools; printf '#!/bin/sh\nexit 1\n' > tools/watch.sh; chmod 755 tools/watch.sh; git add -A; git commit -qm watch; git config core.fsmonitor tools/watch.sh
