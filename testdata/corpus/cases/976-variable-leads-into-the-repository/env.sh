export APP_SETTINGS=$RELAY_REPO/tools/settings
