import unittest
from mod import f


class TestF(unittest.TestCase):
    def test_f(self):
        self.assertEqual(f(4), 8)
