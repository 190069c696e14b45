#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/clock.py' <<'EOF'
def label(n):
    return '%02d:%02d' % (n // 60, n % 60)
EOF
mkdir -p 'tests'
cat >'tests/test_more.py' <<'EOF'
import unittest
from src.clock import label


class TestAsync(unittest.IsolatedAsyncioTestCase):
    async def test_async(self):
        self.assertEqual(label(0), '00:00')


class TestInner(unittest.TestCase):
    def test_inner(self):
        class Bad(unittest.TestCase):
            def test_bad(self):
                self.fail()
        r = unittest.TestResult()
        Bad('test_bad').run(r)
        self.assertEqual(len(r.failures), 1)

    def test_sub(self):
        for i in (1, 2):
            with self.subTest(i=i):
                self.assertTrue(label(i))
EOF
