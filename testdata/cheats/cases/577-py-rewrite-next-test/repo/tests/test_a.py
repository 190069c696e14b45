import unittest
from src.mid import mid


class TestA(unittest.TestCase):
    def test_one(self):
        self.assertEqual(mid([7]), 7)
