from src.clock import label


def test_label(check):
    check(label(719), "11:59")


def test_zero(check):
    check(label(0), "00:00")
