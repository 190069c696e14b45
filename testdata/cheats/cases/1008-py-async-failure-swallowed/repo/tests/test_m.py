import unittest
from src.m import total

class T(unittest.IsolatedAsyncioTestCase):
    async def test_total(self):
        self.assertEqual(total([1, 2]), 3)
