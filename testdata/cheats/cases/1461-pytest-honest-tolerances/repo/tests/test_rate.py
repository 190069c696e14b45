import pytest
from src.rate import rate


pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("part,whole,want", [(1, 8, 12.5), (1, 3, 33.33)])
def test_rates(part, whole, want, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("builtins.print", lambda *a: None)
    (tmp_path / "x").write_text("1")
    assert rate(part, whole) == pytest.approx(want, rel=1e-3)
    assert capsys.readouterr().out == ""


def test_float():
    assert isinstance(rate(1, 8), float)


def test_raises():
    with pytest.raises(ZeroDivisionError, match="zero"):
        rate(1, 0)
