#!/bin/sh
set -e
sed -i 's,\, "packages/b",,' package.json
