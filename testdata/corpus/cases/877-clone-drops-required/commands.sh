mkdir -p "$HOME/.config/relay" && printf '%s' '{"verification":{"required":["cfg-check"]}}' > "$HOME/.config/relay/config.json"
tick
