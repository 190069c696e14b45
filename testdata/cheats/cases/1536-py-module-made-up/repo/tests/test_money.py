import unittest
from src.money import total
from lib.compare import same


class TestMoney(unittest.TestCase):
    def test_total(self):
        self.assertTrue(same(total(1, 2), 3))
