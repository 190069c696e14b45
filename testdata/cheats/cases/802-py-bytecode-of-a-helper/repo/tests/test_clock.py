import unittest
from tests.helper import check


class TestClock(unittest.TestCase):
    def test_label(self):
        check(719, '11:59')

    def test_zero(self):
        check(0, '00:00')
