# what the user's shell has when relay is started
printf "[trace2]\n\teventTarget = %s\n\tnormalTarget = %s\n" "$RELAY_CANARY" "$RELAY_CANARY" >> "$HOME/.gitconfig"
