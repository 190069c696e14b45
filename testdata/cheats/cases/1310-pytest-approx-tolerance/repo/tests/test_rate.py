import pytest
from src.rate import rate


def test_half():
    assert rate(1, 8) == pytest.approx(12.5)
