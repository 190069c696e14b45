#!/bin/sh
touch "$RELAY_CANARY"
echo evil >> pnpm-lock.yaml
