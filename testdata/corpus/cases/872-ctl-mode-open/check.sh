#!/bin/sh
[ "$(stat -c %a src/new.txt)" = 644 ] && [ "$(stat -c %a src/run.sh)" = 755 ] && [ "$(stat -c %a src/a.txt)" = 644 ] && [ "$(stat -c %a src/b.txt)" = 644 ] && grep -q more src/a.txt
