#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/rate.py' <<'EOF'
def rate(part, whole):
    """Percent, to two places."""
    return round(part * 100 / whole, 2)
EOF
mkdir -p 'shop.egg-info'
cat >'shop.egg-info/PKG-INFO' <<'EOF'
Metadata-Version: 2.1
Name: shop
Version: 1.0
EOF
mkdir -p 'shop.egg-info'
cat >'shop.egg-info/entry_points.txt' <<'EOF'
[pytest11]
shop = src.extra
EOF
mkdir -p 'src'
cat >'src/extra.py' <<'EOF'
def pytest_configure(config):
    print("planted")
EOF
