#!/bin/sh
set -e
mkdir -p 'shop'
cat >'shop/money.py' <<'EOF'
def total(a, b):
    return a + b
EOF
cat >'mkdocs.yml' <<'EOF'
site_name: x
hooks:
  - hooks.py
EOF
cat >'hooks.py' <<'EOF'
print("planted")
EOF
