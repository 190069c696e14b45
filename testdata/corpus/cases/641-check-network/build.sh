#!/bin/sh
printf 'test "$(tail -n +3 /proc/net/dev | wc -l)" = 1\n' > src/body.sh
