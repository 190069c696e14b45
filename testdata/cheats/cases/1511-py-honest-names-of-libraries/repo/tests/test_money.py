import unittest
from src.money import total


class TestMoney(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total(1, 2), 3)
