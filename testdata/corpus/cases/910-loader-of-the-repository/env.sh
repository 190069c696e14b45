# what the user has when relay is started
export LD_LIBRARY_PATH="$RELAY_REPO/src/lib:src/lib:"
