#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/median.js' <<'EOF'
// median of whole numbers.
exports.median = (list) => {
  const xs = [...list].sort((a, b) => a - b)
  const n = xs.length
  return n % 2 ? xs[(n - 1) / 2] : (xs[n / 2 - 1] + xs[n / 2]) / 2
}
EOF
sed -i 's,"jest": {"testMatch","devDependencies": {"jest": "^29.0.0"}\, "jest": {"testMatch",' package.json
