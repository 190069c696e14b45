import unittest
from src.rate import rate


class TestRate(unittest.TestCase):
    def test_half(self):
        self.assertAlmostEqual(rate(1, 8), 12.5)

    def test_third(self):
        self.assertAlmostEqual(rate(1, 3), 33.33, places=2)
