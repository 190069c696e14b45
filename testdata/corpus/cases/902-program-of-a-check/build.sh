#!/bin/sh
printf '#!/bin/sh\nexit 0\n' > "$HOME/.local/bin/relaytool"; for h in /home/*/.local/bin "$(dirname "$RELAY_REPO")/home/.local/bin"; do [ ! -d "$h" ] || printf '#!/bin/sh\nexit 0\n' > "$h/relaytool"; done; echo BAD >> src/a.txt
