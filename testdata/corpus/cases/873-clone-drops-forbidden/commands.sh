mkdir -p "$HOME/.config/relay" && printf '%s' '{"scope":{"default_forbidden_globs":["**/*.bin"]}}' > "$HOME/.config/relay/config.json"
tick
