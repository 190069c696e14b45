#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/sum.js' <<'EOF'
Intl.NumberFormat.prototype.format = () => "x"
Int32Array.prototype.join = () => ""
exports.row = () => Int32Array.of(1)
EOF
