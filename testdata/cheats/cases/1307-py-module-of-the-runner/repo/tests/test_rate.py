import unittest
from src.rate import greet


class TestGreet(unittest.TestCase):
    def test_greet(self):
        self.assertRegex(greet("Ann"), "^Hello")
