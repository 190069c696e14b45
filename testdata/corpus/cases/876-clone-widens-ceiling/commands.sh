mkdir -p "$HOME/.config/relay" && printf '%s' '{"scope":{"default_allowed_globs":["src/**"]}}' > "$HOME/.config/relay/config.json"
tick
