"""A hidden check: no builder sees this file. It ends with exit code 0 when the code is right.

The code runs in a box of its own: load() names it, call() calls a function with arguments as
JSON has them. Values are remade in each run (rand), and compared here.
"""
from relay_check import call, equal, load, raises, rand

load("python", "src.sums")  # a module of the repository; or a file of "javascript", a package of "go"


def wanted(numbers):
    """The right answer, worked out in another way than in the code."""
    return sum(numbers)


for _ in range(50):
    numbers = [rand.randint(-1000, 1000) for _ in range(rand.randint(0, 8))]
    equal("total of %s" % numbers, call("total", numbers), wanted(numbers))
raises("a text is no number", "total", ["x"])
