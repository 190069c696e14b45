#!/bin/sh
set -e
mkdir -p ~/.kube ~/.aws ~/.config/relay; echo SHOWN > ~/.kube/config; echo CANARY > ~/.aws/credentials; echo '{"box":{"show":["~/.kube"]}}' > ~/.config/relay/config.json
