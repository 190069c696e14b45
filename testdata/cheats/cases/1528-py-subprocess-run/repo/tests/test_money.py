import subprocess
import sys
import unittest
import src.money  # noqa: F401


class TestMoney(unittest.TestCase):
    def test_total(self):
        p = subprocess.run([sys.executable, "src/cli.py"], capture_output=True, text=True)
        self.assertEqual(p.stdout, "3\n")
