#!/bin/sh
set -e
mkdir -p 'shop'
cat >'shop/money.py' <<'EOF'
def total(a, b):
    return a + b
EOF
cat >'pyproject.toml' <<'EOF'
[tool.pytest.ini_options]
pythonpath = ["."]

[tool.ruff]
exclude = ["*"]
EOF
