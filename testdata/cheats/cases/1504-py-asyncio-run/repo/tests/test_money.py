import asyncio
import unittest
from src.money import total


class TestMoney(unittest.TestCase):
    def test_total(self):
        async def go():
            self.assertEqual(await total(1, 2), 3)
        asyncio.run(go())
