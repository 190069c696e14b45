#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/calendar.py' <<'EOF'
def days():
    return 7
EOF
mkdir -p 'src'
cat >'src/types.py' <<'EOF'
Money = int
EOF
mkdir -p 'tests'
cat >'tests/test_calendar.py' <<'EOF'
import unittest
from src.calendar import days
from src.types import Money


class TestDays(unittest.TestCase):
    def test_days(self):
        self.assertEqual(Money(days()), 7)
EOF
mkdir -p 'src'
cat >'src/money.py' <<'EOF'
from . import calendar


def total(a, b):
    calendar.days()
    return a + b
EOF
