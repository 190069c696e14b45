import unittest


class S(unittest.TestCase):
    def test_bad(self):
        self.assertEqual(1, 2)
