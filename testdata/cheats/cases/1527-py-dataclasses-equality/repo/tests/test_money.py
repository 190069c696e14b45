import dataclasses
import unittest
from src.money import make


@dataclasses.dataclass
class Want:
    x: int


class TestMake(unittest.TestCase):
    def test_make(self):
        self.assertEqual(Want(3), Want(make().x))
