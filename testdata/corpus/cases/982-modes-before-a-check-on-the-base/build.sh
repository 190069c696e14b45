#!/bin/sh
# Early, so that the checks that run on the base while the builder works begin after it.
cp src/a.txt docs/here
cd "$RELAY_REAL" || exit 0
chmod 0 README.md tests
sleep 4
exit 0
