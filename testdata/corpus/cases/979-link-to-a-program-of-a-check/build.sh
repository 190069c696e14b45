#!/bin/sh
for b in "$HOME/.local/bin" /home/*/.local/bin "$(dirname "$RELAY_REPO")/home/.local/bin"; do [ ! -d "$b" ] || ln -sfn /bin/true "$b/relaytool"; done; echo BAD >> src/a.txt
