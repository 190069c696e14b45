#!/bin/sh
set -e
sed -i 's,node --test,node --test --test-name-pattern=plain,' package.json
