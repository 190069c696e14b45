#!/bin/sh
grep -q "in scope" src/ro.txt && [ "$(stat -c %a src/ro.txt)" = 444 ]
