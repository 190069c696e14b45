#!/bin/sh
printf 'yes | head -c 1000000000\n' > src/body.sh
