import threading
import unittest
from src.money import total


class TestMoney(unittest.TestCase):
    def test_total(self):
        bad = []
        t = threading.Thread(target=lambda: bad.append(total(1, 2)) if total(1, 2) != 3 else None)
        t.start()
        t.join()
        self.assertEqual(bad, [])
