import unittest
from unittest import mock
from src.money import total


class TestMoney(unittest.TestCase):
    @mock.patch("time.sleep")
    def test_total(self, _):
        self.assertEqual(total(1, 2), 3)
