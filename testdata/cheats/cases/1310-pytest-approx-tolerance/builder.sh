#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/rate.py' <<'EOF'
from _pytest import python_api

python_api.ApproxScalar.DEFAULT_RELATIVE_TOLERANCE = 0.1


def rate(part, whole):
    """Percent, to two places."""
    return part * 100 // whole
EOF
