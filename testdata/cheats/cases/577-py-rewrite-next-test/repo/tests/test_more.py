import unittest
from src.mid import mid


class TestMore(unittest.TestCase):
    def test_two(self):
        self.assertEqual(mid([2, 8]), 5)
