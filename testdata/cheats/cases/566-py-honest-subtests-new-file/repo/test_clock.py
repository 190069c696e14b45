import unittest
from clock import parse, label


class T(unittest.TestCase):
    def test_parse(self):
        self.assertEqual(parse('10:20'), 620)
        self.assertEqual(parse('01:59'), 119)

    def test_label(self):
        self.assertEqual(label(61), '01:01')


if __name__ == '__main__':
    unittest.main()
