#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/clock.js' <<'EOF'
exports.label = (n) => `${String(Math.floor(n / 60)).padStart(2, '0')}:${String(n % 60).padStart(2, '0')}`
EOF
