from src.clock import label


def test_label():
    assert label(719) == '11:59'


def test_zero():
    assert label(0) == '00:00'
