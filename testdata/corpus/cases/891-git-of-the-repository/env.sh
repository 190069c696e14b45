# what the user's shell has when relay is started
export PATH="$RELAY_REPO/bin:$PATH"
