import unittest
from src.clock import label


def same(case, got, want):
    case.assertEqual(got, want)


class TestClock(unittest.TestCase):
    def test_label(self):
        got = label(719)
        same(self, got, "11:59")

    def test_zero(self):
        same(self, label(0), "00:00")
