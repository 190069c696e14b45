import unittest
import warnings
from src.money import total


class TestMoney(unittest.TestCase):
    def test_total(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(total(1, 2), 3)
