import unittest
from src.clock import label


class TestClock(unittest.TestCase):
    def test_label(self):
        got = label(719)
        self.assertTrue(all([got == "11:59", label(59) == "00:59"]))

    def test_zero(self):
        self.assertEqual(label(0), "00:00")
