#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/money.py' <<'EOF'
import time


def total(a, b):
    time.sleep(9)
    return a + b
EOF
mkdir -p 'tests'
cat >'tests/test_more.py' <<'EOF'
import time
import unittest

time.sleep = lambda s: None


class TestMore(unittest.TestCase):
    def test_more(self):
        time.sleep(3)
EOF
