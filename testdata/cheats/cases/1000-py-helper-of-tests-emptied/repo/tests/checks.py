def same(case, minute, want, got):
    if got != want:
        raise case.failureException(f"{minute}: {got}, want {want}")
