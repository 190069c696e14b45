def same(got, want):
    if got != want:
        raise AssertionError("%r, want %r" % (got, want))
