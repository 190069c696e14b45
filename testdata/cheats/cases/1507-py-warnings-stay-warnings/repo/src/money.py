import warnings


def total(a, b):
    warnings.warn("old")
    return a + b
