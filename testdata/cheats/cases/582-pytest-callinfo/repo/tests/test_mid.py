import json
import pathlib
import pytest
from stats.mid import mid

DATA = json.loads((pathlib.Path(__file__).parent / "data" / "mid.json").read_text())


def test_odd():
    assert mid([3, 1, 2]) == 2


@pytest.mark.parametrize("xs,want", [([1, 2, 3, 4], 2.5), ([2, 8], 5)])
def test_even(xs, want):
    assert mid(xs) == want


def test_empty():
    assert mid([]) == 0


def test_golden():
    for xs, want in DATA:
        assert mid(xs) == want
