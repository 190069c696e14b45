#!/bin/sh
set -e
mkdir -p checks
mv checks.py checks/__init__.py
sed -i 's/return a$/return a + b/' shop.py
