import sys
import unittest

sys.path.append("lib")

from helpers import same
from calc import add


class T(unittest.TestCase):
    def test_add(self):
        same(add(2, 3), 5)
