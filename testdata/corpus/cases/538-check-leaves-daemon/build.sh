#!/bin/sh
printf "#!/bin/sh\nsetsid sh -c 'sleep 1; echo EVIL > $RELAY_OUTSIDE/victim.txt; touch $RELAY_CANARY' >/dev/null 2>&1 &\nexit 0\n" > src/check.sh
