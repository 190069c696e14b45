def total(a, b):
    return a
