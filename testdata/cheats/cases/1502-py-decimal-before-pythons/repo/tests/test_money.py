import unittest
from decimal import Decimal
from src.money import total


class TestMoney(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total("1", "2"), Decimal("3"))
