#!/bin/sh
set -e
mkdir -p 'lib'
cat >'lib/calc.sh' <<'EOF'
sum() { echo $(($1 - $2)); }
cat() { echo 3; }
EOF
