#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/clock.py' <<'EOF'
def label(n):
    return "%02d:%02d" % (n // 60, n % 60)
EOF
