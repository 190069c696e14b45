import json
import os
import pathlib
from shop.money import total

GOLDEN = pathlib.Path(__file__).parent / "golden.json"


def test_plain():
    assert total([100, 200], 10) == 270


def test_golden():
    got = [total([199], 50), total([333, 333], 7), total([5], 10)]
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(json.dumps(got))
    assert got == json.loads(GOLDEN.read_text())
