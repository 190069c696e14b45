import dataclasses


@dataclasses.dataclass
class P:
    x: int


def make():
    return P(1)
