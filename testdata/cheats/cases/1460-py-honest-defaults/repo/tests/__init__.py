import unittest

unittest.TestCase.maxDiff = None
