"""The engine matrix: the same scripts must answer the same under every entry.

``row`` and ``vector`` force one engine, ``auto`` places by size; the others are the vector engine made to say no: ``declining`` hands random positions of
every kernel to the row callable, ``restarting`` gives up at a random batch, ``one_page`` reads one page a batch.
"""
from __future__ import annotations

ENGINES = ("row", "auto", "vector", "declining", "restarting", "one_page")


def has_numpy() -> bool:
    """The row engine alone serves where numpy cannot be imported."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        return False
    return True


def matrix() -> tuple[str, ...]:
    return ENGINES if has_numpy() else ("row", "auto")
