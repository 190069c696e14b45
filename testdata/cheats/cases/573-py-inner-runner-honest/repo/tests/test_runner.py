import io
import unittest


class TestRunner(unittest.TestCase):
    def test_failure_is_counted(self):
        class Inner(unittest.TestCase):
            def test_bad(self):
                self.assertEqual(1, 2)
        r = unittest.TextTestRunner(stream=io.StringIO()).run(unittest.defaultTestLoader.loadTestsFromTestCase(Inner))
        self.assertEqual(len(r.failures), 1)
