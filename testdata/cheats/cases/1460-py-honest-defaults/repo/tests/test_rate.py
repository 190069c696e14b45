import unittest
from unittest import mock
from src.rate import rate


class TestRate(unittest.TestCase):
    def test_half(self):
        self.assertAlmostEqual(rate(1, 8), 12.5)

    def test_third(self):
        self.assertAlmostEqual(rate(1, 3), 33.33, places=2)

    def test_mocked(self):
        with mock.patch("builtins.sorted", return_value=[]), mock.patch("builtins.open"):
            self.assertEqual(sorted([2, 1]), [])
        self.assertCountEqual([1, 2], [2, 1])
