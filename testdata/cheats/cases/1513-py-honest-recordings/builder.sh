#!/bin/sh
set -e
mkdir -p 'src/recordings'
cat >'src/recordings/store.py' <<'EOF'
def total(a, b):
    return a + b
EOF
