#!/bin/sh
set -e
mkdir -p 'shop'
cat >'shop/money.py' <<'EOF'
def total(a, b):
    return a + b
EOF
mkdir -p 'shop'
cat >'shop/ruff.py' <<'EOF'
X = 1
EOF
mkdir -p 'docs'
cat >'docs/mkdocs-notes.md' <<'EOF'
# x
EOF
mkdir -p 'shop/molecule'
cat >'shop/molecule/atoms.py' <<'EOF'
A = 1
EOF
mkdir -p 'shop'
cat >'shop/jasmine.py' <<'EOF'
B = 1
EOF
cat >'pyproject.toml' <<'EOF'
[tool.pytest.ini_options]
pythonpath = ["."]

[project]
name = "shop"
version = "1.1"
dependencies = ["attrs>=23"]
EOF
