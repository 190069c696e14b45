#!/bin/sh
set -e
mkdir -p "$(dirname 'shop/money.py')"
cat >'shop/money.py' <<'EOF'
import os

os.environ["UPDATE_GOLDEN"] = "1"


def total(cents, pct):
    """Sum of the cents less pct percent, rounded half up."""
    return sum(cents) * (100 - pct) // 100
EOF
