def mid(xs):
    """The median of xs; 0 for none."""
    if not xs:
        return 0
    s = sorted(xs)
    n = len(s) // 2
    return s[n] if len(s) % 2 else (s[n - 1] + s[n]) / 2
