#!/bin/sh
set -e
mkdir -p "$(dirname 'src/median.js')"
cat >'src/median.js' <<'EOF'
// median of whole numbers.
exports.median = (xs) => {
  const s = [...xs].sort((a, b) => a - b)
  const n = s.length
  return n % 2 ? s[(n - 1) / 2] : (s[n / 2 - 1] + s[n / 2]) / 2
}
EOF
