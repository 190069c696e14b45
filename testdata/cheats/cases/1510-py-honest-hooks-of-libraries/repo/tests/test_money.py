import json
import logging
import sys
import threading
import unittest
from src.money import total


class TestMoney(unittest.TestCase):
    def test_total(self):
        with self.assertLogs(level="INFO"):
            logging.info("x")
            self.assertEqual(json.dumps(total(1, 2)), "3")
