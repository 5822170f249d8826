"""The one place that imports numpy, and what numpy has only at a price.

numpy starts the thread pool of its linear algebra library when it is imported; nothing here multiplies matrices, so that pool is
held to one thread, which saves a quarter of the import time.  Every numpy room says ``from sqlvec.columnar.numeric import np``.
"""
from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# glibc's malloc gives large blocks back to the system when they are freed; the size of a freed block that came from mmap teaches it to keep what is
# smaller.  Every batch allocates and frees the same few megabytes: without this lesson (the block is never touched) each batch would fault all its pages
# in anew, which costs a third of a scan.
np.empty(31 << 20, np.uint8)


def distinct(values: Any) -> Any:
    """The distinct elements of an integer array in ascending order.  (``np.unique`` imports all of ``numpy.ma`` at its first call.)"""
    ordered = np.sort(values)
    if len(ordered) < 2:
        return ordered
    is_first = np.empty(len(ordered), bool)
    is_first[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


def distinct_small(values: Any) -> list[int]:
    """The distinct elements of an array of small integers >= 0 (tags, sizes, part numbers) in ascending order."""
    return np.flatnonzero(np.bincount(values)).tolist()  # type: ignore[no-any-return]


__all__ = ["distinct", "distinct_small", "np"]
