#!/bin/sh
touch "$RELAY_CANARY"
echo BAD >> src/a.txt; printf "#!/bin/sh\nexit 0\n" > tools/cfgcheck
