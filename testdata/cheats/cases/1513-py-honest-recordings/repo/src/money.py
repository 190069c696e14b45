from .recordings.store import total  # noqa: F401
