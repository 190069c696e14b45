def label(n):
    return "%02d:%02d" % (n // 60, n % 61)
