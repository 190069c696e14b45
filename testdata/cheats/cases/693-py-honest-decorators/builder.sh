#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/clock.py' <<'EOF'
def label(n):
    return '%02d:%02d' % (n // 60, n % 60)
EOF
mkdir -p 'tests'
cat >'tests/test_more.py' <<'EOF'
import functools
import unittest
from unittest import mock
import src.clock
from src.clock import label


def twice(f):
    @functools.wraps(f)
    def run(self):
        f(self)
        f(self)
    return run


def plain(f):
    def run(self):
        f(self)
    return run


def cases(cls):
    for i in (0, 60):
        def test(self, i=i):
            self.assertTrue(label(i))
        setattr(cls, 'test_made_%d' % i, test)
    return cls


@cases
class TestMore(unittest.TestCase):
    def setUp(self):
        typed = mock.patch('builtins.input', lambda *_: '7')
        typed.start()
        self.addCleanup(typed.stop)

    def test_typed(self):
        self.assertEqual(input(), '7')

    @twice
    def test_twice(self):
        self.assertEqual(label(60), '01:00')

    @plain
    def test_plain(self):
        self.assertEqual(label(60), '01:00')

    @mock.patch('src.clock.label', lambda n: 'x')
    def test_mock(self):
        self.assertEqual(src.clock.label(1), 'x')

    @mock.patch.object(src.clock, 'label')
    def test_object(self, m):
        m.return_value = 3
        self.assertEqual(src.clock.label(1), 3)

    def assertEqual(self, a, b, msg=None):
        super().assertEqual(a, b, msg)

    @unittest.skip('later')
    def test_later(self):
        pass

    @unittest.expectedFailure
    def test_known(self):
        self.assertEqual(1, 2)


class TestAsync(unittest.IsolatedAsyncioTestCase):
    async def test_async(self):
        self.assertEqual(label(0), '00:00')
EOF
