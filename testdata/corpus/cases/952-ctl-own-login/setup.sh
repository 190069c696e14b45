#!/bin/sh
set -e
mkdir -p ~/.claude; echo LOGIN > ~/.claude/.credentials.json; echo '{"x":"LOGIN"}' > ~/.claude.json
