#!/bin/sh
set -e
mkdir -p 'lib'
cat >'lib/mid.js' <<'EOF'
function mid(xs) {
  if (!xs.length) return 0
  const s = [...xs].sort((a, b) => a - b)
  const n = s.length >> 1
  return s.length % 2 ? s[n] : (s[n - 1] + s[n]) / 2
}
exports.mid = mid
EOF
