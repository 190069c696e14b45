# what the user's shell has when relay is started
export PATH="$HOME/wrap:$PATH"
