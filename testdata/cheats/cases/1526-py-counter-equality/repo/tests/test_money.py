import unittest
from src.money import tags


class TestTags(unittest.TestCase):
    def test_tags(self):
        self.assertEqual(tags("a b"), {"a": 1, "b": 1})
