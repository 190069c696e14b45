#!/bin/sh
set -e
echo '{"product_name":"CANARYSECRET"}' > "$HOME/private.json"
