import unittest
from src.clock import label
from tests import checks


class TestClock(unittest.TestCase):
    def test_label(self):
        checks.same(self, label(719), "11:59")

    def test_zero(self):
        checks.same(self, label(0), "00:00")
