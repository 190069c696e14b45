import json
import unittest
from src.mid import mid


class TestMid(unittest.TestCase):
    def test_golden(self):
        with open("tests/data/mid.json") as f:
            for xs, want in json.load(f):
                self.assertEqual(mid(xs), want)
