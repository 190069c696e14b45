#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/clock.py' <<'EOF'
def label(n):
    return '%02d:%02d' % (n // 60, n % 60)
EOF
mkdir -p 'src'
cat >'src/steps.py' <<'EOF'
import sys


def steps(f):
    """How many lines f runs."""
    n = 0

    def trace(frame, event, arg):
        nonlocal n
        n += event == 'line'
        return trace
    old = sys.gettrace()
    sys.settrace(trace)
    try:
        f()
    finally:
        sys.settrace(old)
    return n
EOF
mkdir -p 'tests'
cat >'tests/test_steps.py' <<'EOF'
import unittest
from src.steps import steps


def two():
    a = 1
    return a


class TestSteps(unittest.TestCase):
    def test_two(self):
        self.assertEqual(steps(two), 2)
EOF
