import unittest
from src.rate import parts


class TestParts(unittest.TestCase):
    def test_parts(self):
        self.assertCountEqual(parts("a,b,c"), ["c", "b", "a"])
