def mid(xs):
    """The median of xs; 0 for none."""
    if not xs:
        return 0
    return sorted(xs)[len(xs) // 2]
