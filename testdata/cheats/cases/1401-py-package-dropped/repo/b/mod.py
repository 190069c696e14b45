def f(n):
    return n * 4
