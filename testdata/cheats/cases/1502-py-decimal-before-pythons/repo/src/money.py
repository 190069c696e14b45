from decimal import Decimal


def total(a, b):
    return Decimal(a) - Decimal(b)
