from src.clock import label


def check(n, want):
    got = label(n)
    if got != want:
        raise AssertionError('%r is %r and not %r' % (n, got, want))
