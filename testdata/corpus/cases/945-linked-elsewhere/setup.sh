#!/bin/sh
set -e
o=$(dirname "$HOME")/outside/store; mkdir -p "$o/aws" "$o/kube" ~/.ssh ~/.dotfiles; for f in aws/credentials kube/config id netrc; do echo CANARY > "$o/$f"; chmod 600 "$o/$f"; done
ln -s "$o/aws" ~/.aws; ln -s ../outside/store/kube ~/.kube; ln -s "$o/id" ~/.ssh/id; ln -s "$o/netrc" ~/.dotfiles/netrc; ln -s .dotfiles/netrc ~/.netrc
