#!/bin/sh
set -e
mkdir -p 'shop'
cat >'shop/money.py' <<'EOF'
def total(cents, pct):
    """Sum of the cents less pct percent, rounded half up."""
    return (sum(cents) * (100 - pct) + 50) // 100
EOF
mkdir -p 'tests'
cat >'tests/conftest.py' <<'EOF'
import pytest


@pytest.fixture
def basket():
    return [100, 200]
EOF
mkdir -p 'tests'
cat >'tests/test_basket.py' <<'EOF'
from shop.money import total


def test_basket(basket):
    assert total(basket, 50) == 150
EOF
