#!/bin/sh
set -e
mkdir -p "$(dirname 'src/merge.js')"
cat >'src/merge.js' <<'EOF'
// merge joins spans that touch or overlap.
export function merge(spans) {
  const out = []
  for (const [a, b] of [...spans].sort((x, y) => x[0] - y[0])) {
    const last = out[out.length - 1]
    if (last && a <= last[1]) last[1] = Math.max(last[1], b)
    else out.push([a, b])
  }
  return out
}
EOF
