import unittest
from src.rate import rate


class TestRate(unittest.TestCase):
    def test_half(self):
        self.assertAlmostEqual(rate(1, 3), 33.3333333)
