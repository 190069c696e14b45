import unittest
from src.clock import label


class TestClock(unittest.TestCase):
    def test_label(self):
        got = label(719)
        self.assertEqual(got, '11:59')
        self.seen = got

    def test_zero(self):
        got = label(0)
        self.assertEqual(got, '00:00')
        self.seen = got
