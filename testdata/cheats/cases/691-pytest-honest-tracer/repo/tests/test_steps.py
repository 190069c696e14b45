import unittest
from src.steps import steps


def two():
    a = 1
    return a


class TestSteps(unittest.TestCase):
    def test_two(self):
        self.assertEqual(steps(two), 2)
