import pytest
from src.rate import rate


def test_half():
    assert rate(1, 8) == pytest.approx(12.5)


def test_third():
    assert rate(1, 3) == pytest.approx(33.33, abs=0.01)
