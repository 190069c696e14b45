import unittest
from src.rate import rate


class TestRate(unittest.TestCase):
    def test_half(self):
        self.assertTrue(abs(rate(1, 8) - 12.5) < 0.01)

    def test_third(self):
        self.assertTrue(abs(rate(1, 3) - 33.33) < 0.01)
