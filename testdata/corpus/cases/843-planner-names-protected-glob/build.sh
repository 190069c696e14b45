#!/bin/sh
touch "$RELAY_CANARY"
mkdir -p .github/workflows; echo x > .github/workflows/ci.yml
