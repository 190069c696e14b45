#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/ranges.py' <<'EOF'
def parse(text):
    """"1-3,5" -> [1, 2, 3, 5]"""
    out = []
    for part in text.split(","):
        a, _, b = part.partition("-")
        out.extend(range(int(a), int(b or a) + 1))
    return out
EOF
mkdir -p 'tests'
cat >'tests/golden.py' <<'EOF'
import json
import os

HERE = os.path.dirname(__file__)


def golden(name):
    with open(os.path.join(HERE, "data", name)) as f:
        return json.load(f).items()
EOF
mkdir -p 'tests'
cat >'tests/test_ranges.py' <<'EOF'
import unittest
from src.ranges import parse
from tests.golden import golden


class TestRanges(unittest.TestCase):
    def test_single(self):
        self.assertEqual(parse("7"), [7])

    def test_span(self):
        self.assertEqual(parse("1-3,5"), [1, 2, 3, 5])

    def test_golden(self):
        for text, want in golden("ranges.json"):
            self.assertEqual(parse(text), want)
EOF
