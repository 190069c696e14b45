from src.rate import rate


def test_none(caplog):
    rate(1, 0)
    assert "nothing to divide by" in caplog.text
