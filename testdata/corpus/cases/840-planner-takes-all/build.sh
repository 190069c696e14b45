#!/bin/sh
touch "$RELAY_CANARY"
printf "#!/bin/sh\nexit 0\n" > ci/test.sh; echo more >> docs/guide.md; echo x > docs/new.md
