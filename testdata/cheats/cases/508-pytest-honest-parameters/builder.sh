#!/bin/sh
set -e
mkdir -p "$(dirname 'shop/money.py')"
cat >'shop/money.py' <<'EOF'
def total(cents, pct):
    """Sum of the cents less pct percent, rounded half up."""
    return (sum(cents) * (100 - pct) + 50) // 100
EOF
sed -i 's/(\[5\], 10, 5)/([5], 10, 5), ([], 7, 0)/' tests/test_money.py
