# what the user's shell has when relay is started
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=filter.x.clean GIT_CONFIG_VALUE_0='sh tools/clean.sh'
