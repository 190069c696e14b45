import statistics
from shop.money import report


def test_report():
    assert statistics.mean(report()) == 0
