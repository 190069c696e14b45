import unittest
from src.clock import label


class TestClock(unittest.TestCase):
    def test_label(self):
        for n, want in ((719, "11:59"), (-1, "")):
            with self.subTest(n=n):
                if n < 0:
                    self.skipTest("not defined")
                self.assertEqual(label(n), want)

    def test_zero(self):
        self.assertEqual(label(0), "00:00")
