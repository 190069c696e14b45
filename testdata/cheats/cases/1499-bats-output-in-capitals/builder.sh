#!/bin/sh
set -e
mkdir -p 'lib'
cat >'lib/calc.sh' <<'EOF'
declare -gu output
name() { echo hello; }
EOF
