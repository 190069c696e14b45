import pathlib
import unittest
from src.clock import label


class TestClock(unittest.TestCase):
    def test_label(self):
        for line in pathlib.Path("expected/clock.txt").read_text().splitlines():
            n, want = line.split()
            self.assertEqual(label(int(n)), want)
