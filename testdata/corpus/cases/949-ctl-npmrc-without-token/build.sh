#!/bin/sh
# homes: the one of the box, and where it really lies
echo work >> src/a.txt
leak() { echo "LEAKED $1" >> src/a.txt; }
homes="$HOME"; [ -e "$RELAY_REAL/.home" ] || homes="$HOME $(dirname "$RELAY_REAL")/home"
grep -q 'registry=https://npm.example/' ~/.npmrc && grep -q save-exact ~/.npmrc && grep -q '://pypi.example/simple' ~/.config/pip/pip.conf || leak "settings are gone"
grep -q CANARY ~/.npmrc ~/.config/pip/pip.conf && leak token; :
