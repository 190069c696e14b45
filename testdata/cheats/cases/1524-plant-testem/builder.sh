#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/sum.js' <<'EOF'
exports.sum = (a, b) => a + b
EOF
cat >'testem.js' <<'EOF'
module.exports = { before_tests: "echo planted" }
EOF
