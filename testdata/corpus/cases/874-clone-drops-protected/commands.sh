mkdir -p "$HOME/.config/relay" && printf '%s' '{"verification":{"protected_globs":["tools/**"]}}' > "$HOME/.config/relay/config.json"
tick
