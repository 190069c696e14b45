#!/bin/sh
set -e
printf '#!/bin/sh\nexec sh "$@"\n' > "$HOME/.local/bin/runner"; chmod 755 "$HOME/.local/bin/runner"; printf '#!/usr/bin/env runner\nif grep -q BAD src/a.txt; then exit 1; fi\n' > "$HOME/.local/bin/relaytool"; chmod 755 "$HOME/.local/bin/relaytool"
