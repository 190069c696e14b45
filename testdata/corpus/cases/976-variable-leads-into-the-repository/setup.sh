#!/bin/sh
set -e
printf '#!/bin/sh\n. "$APP_SETTINGS"\n' > ~/.local/bin/getkey; chmod 755 ~/.local/bin/getkey
mkdir -p ~/.config/relay; echo '{"plugins":{"claude-code":{"keys":{"ANTHROPIC_API_KEY":{"command":["getkey"]}}}}}' > ~/.config/relay/config.json
