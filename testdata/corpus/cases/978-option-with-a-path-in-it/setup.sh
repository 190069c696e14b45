#!/bin/sh
set -e
mkdir -p ~/.config/relay; echo '{"plugins":{"claude-code":{"keys":{"ANTHROPIC_API_KEY":{"command":["make","-s","-C/..'"$PWD"'","key"]}}}}}' > ~/.config/relay/config.json
