from src.clock import label


def test_label():
    got = label(719)
    assert got == '11:59'
    print(got)


def test_zero():
    got = label(0)
    assert got == '00:00'
    print(got)
