#!/bin/sh
set -e
while read -r f; do mkdir -p "$HOME/$(dirname "$f")"; printf 'export EDITOR=vi\nexport SOME_API_KEY=CANARY-0123456789\n' > "$HOME/$f"; done <<'L'
.bashrc
.bash_profile
.bash_aliases
.profile
.zshrc
.zshenv
.config/zsh/.zshrc
.config/environment.d/keys.conf
.config/systemd/user/x.service
.envrc
.env
.secrets
.mcp-auth/x/tokens.json
.claude-code-router/config.json
.vibe/.env
.config/mini-swe-agent/.env
.config/gptme/config.toml
.config/acli/x
.tsh/keys/x
.step/secrets/x
.awsvault/keys/x
.modal.toml
.gitcookies
.gcm/store/x
.config/httpie/sessions/x.json
.curlrc
.cf/config.json
.expo/state.json
L
mkdir -p "$HOME/.config/fish" && echo 'set -gx SOME_API_KEY CANARY-0123456789' > "$HOME/.config/fish/config.fish"
