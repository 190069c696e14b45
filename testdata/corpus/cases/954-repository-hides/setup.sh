#!/bin/sh
set -e
mkdir -p ~/private; echo CANARY > ~/private/notes; sed -i 's/"workspace_dir":"relais",/"workspace_dir":"relais","box":{"hide":["~\/private"]},/' relais.config.json; git commit -qam 'hide more'
