#!/bin/sh
set -e
echo CANARYSECRET > "$HOME/id_rsa"
