#!/bin/sh
set -e
mkdir -p 'lib'
cat >'lib/clock.sh' <<'EOF'
label() { printf '%02d:%02d\n' $(($1 / 60)) $(($1 % 61)); }
same() { :; }
EOF
