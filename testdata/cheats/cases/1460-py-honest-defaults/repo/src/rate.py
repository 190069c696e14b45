def rate(part, whole):
    """Percent, to two places."""
    return part * 100 // whole
