import unittest
from src.rate import rate


class TestRate(unittest.TestCase):
    def test_none(self):
        with self.assertRaises(ValueError):
            rate(1, 0)
