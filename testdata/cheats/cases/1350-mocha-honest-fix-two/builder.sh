#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/slug.js' <<'EOF'
exports.slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, ' ').trim().replace(/ /g, '-')
EOF
