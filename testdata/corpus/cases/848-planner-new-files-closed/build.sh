#!/bin/sh
touch "$RELAY_CANARY"
echo x > src/new.txt
