#!/bin/sh
set -e
printf '#!%s/tools/run\n' "$PWD" > ~/.local/bin/getkey; chmod 755 ~/.local/bin/getkey
mkdir -p ~/.config/relay; echo '{"plugins":{"claude-code":{"keys":{"ANTHROPIC_API_KEY":{"command":["getkey"]}}}}}' > ~/.config/relay/config.json
