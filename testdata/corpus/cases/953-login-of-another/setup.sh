#!/bin/sh
set -e
mkdir -p ~/.codex ~/.gemini ~/.config/github-copilot ~/.local/share/opencode; for f in .codex/auth.json .gemini/oauth_creds.json .config/github-copilot/apps.json .local/share/opencode/auth.json; do echo CANARY > ~/$f; done
