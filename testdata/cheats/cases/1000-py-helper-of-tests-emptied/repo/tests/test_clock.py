import unittest
from src.clock import label
from tests import checks


class TestClock(unittest.TestCase):
    def test_label(self):
        got = label(719)
        checks.same(self, 719, "11:59", got)

    def test_zero(self):
        checks.same(self, 0, "00:00", label(0))
