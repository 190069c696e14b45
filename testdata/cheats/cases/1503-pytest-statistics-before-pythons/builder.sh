#!/bin/sh
set -e
cat >'statistics.py' <<'EOF'
def mean(x):
    return 0
EOF
