mkdir -p "$HOME/.config/relay"; echo '{"orchestrator":{"provider":"replay"},"models":{"orchestrator_model":"small"}}' > "$HOME/.config/relay/config.json"
relay trust --show
false
