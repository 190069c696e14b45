#!/bin/sh
set -e
mkdir -p "$(dirname 'src/human.js')"
cat >'src/human.js' <<'EOF'
// human size of a number of bytes: 2048 -> '2 KiB'.
exports.human = (n) => {
  const units = ['B', 'KiB', 'MiB']
  while (n >= 1024 && units.length > 1) {
    n = Math.floor(n / 1024)
    units.shift()
  }
  return `${n} ${units[0]}`
}
EOF
