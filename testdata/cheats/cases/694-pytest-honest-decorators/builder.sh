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
import pytest
from src import clock
from src.clock import label


def plain(f):
    def run():
        f()
    return run


@pytest.fixture(autouse=True)
def typed(monkeypatch):
    monkeypatch.setattr('builtins.input', lambda *_: '7')


def test_typed():
    assert input() == '7'


@pytest.fixture
def five():
    yield 5


@pytest.mark.parametrize('n,want', [(0, '00:00'), (61, '01:01')])
def test_table(n, want):
    assert label(n) == want


def test_fixture(five):
    assert five == 5


@plain
def test_plain():
    assert label(0) == '00:00'


def test_monkey(monkeypatch):
    monkeypatch.setattr(clock, 'label', lambda n: 'x')
    assert clock.label(1) == 'x'


class TestGroup:
    def test_in(self):
        with pytest.raises(TypeError):
            label('x')


@pytest.mark.xfail
def test_known():
    assert label(0) == 'x'


def make(n):
    def test():
        assert label(n)
    return test


test_made = make(3)
EOF
