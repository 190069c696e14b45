import pytest
from src.rate import rate


def test_none():
    with pytest.raises(ZeroDivisionError, match="nothing to divide by"):
        rate(1, 0)
