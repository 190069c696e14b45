import pytest


def same(got, want):
    assert got == want


@pytest.fixture
def check():
    return lambda got, want: same(got, want)
