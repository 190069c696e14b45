import unittest
from src.clock import label


class TestClock(unittest.TestCase):
    def test_label(self):
        self.assertEqual(label(719), "11:59")

    def test_zero(self):
        self.assertEqual(label(0), "00:00")
