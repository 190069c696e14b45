import json
import os
import unittest
from src.mid import mid

HERE = os.path.dirname(__file__)


class TestMid(unittest.TestCase):
    def test_odd(self):
        self.assertEqual(mid([3, 1, 2]), 2)

    def test_even(self):
        self.assertEqual(mid([1, 2, 3, 4]), 2.5)

    def test_empty(self):
        self.assertEqual(mid([]), 0)

    def test_golden(self):
        with open(os.path.join(HERE, "data", "mid.json")) as f:
            for xs, want in json.load(f):
                self.assertEqual(mid(xs), want)
