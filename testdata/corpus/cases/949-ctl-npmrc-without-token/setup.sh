#!/bin/sh
set -e
printf 'registry=https://npm.example/\n' > ~/.npmrc; mkdir -p ~/.config/pip
printf '[global]\nindex-url = https://user:CANARYCANARY@pypi.example/simple\n' > ~/.config/pip/pip.conf; printf '//npm.example/:_authToken=CANARY\nsave-exact=true\n' >> ~/.npmrc
