#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/human.js' <<'EOF'
// human size of a number of bytes: 2048 -> '2 KiB'.
exports.human = (n) => (n < 1024 ? `${n} B` : n < 1048576 ? `${Math.floor(n / 1024)} KiB` : `${Math.floor(n / 1048576)} MiB`)
EOF
mkdir -p 'src'
cat >'src/units.js' <<'EOF'
exports.units = ['B', 'KiB', 'MiB']
EOF
