"""substr(text, position, count) with constant arguments: a shorter view of the same bytes.

Where the characters that matter are ASCII without NUL, characters are bytes and the result is the offset moved and the length cut, nothing is
copied.  Rows for which that can't be said from the first bytes are declined.
"""
from __future__ import annotations

from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import TEXT, ColumnVector, load_words, tail_mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HIGH = np.uint64(0x8080808080808080)
_ONES = np.uint64(0x0101010101010101)
LONGEST = 32


def substring(vector: ColumnVector, position: int, count: int) -> tuple[ColumnVector, Any] | None:
    """(result, rows that are declined) for TEXT values, ``position`` from 1 and ``count`` from 0; None: arguments not for this kernel."""
    if position < 1 or count < 0 or position - 1 + count > LONGEST or type(vector.tags) is not int or vector.tags != TEXT or vector.is_constant:
        return None
    vector = vector.flat()
    skip = position - 1
    lengths = vector.length_array()
    reach = np.minimum(lengths, skip + count)
    odd = np.zeros(vector.count, bool)
    for start in range(0, skip + count, 8):
        here = np.clip(reach - start, 0, 8)
        words = load_words(vector.heap, np.minimum(vector.bits + start, len(vector.heap) - 8))
        mask = tail_mask(here)
        words = words & mask
        # a byte of 128 and more, or a zero byte among those that count
        zeros = (words - _ONES) & ~words & _HIGH & mask
        odd |= ((words & _HIGH) | zeros) != 0
    cut = np.maximum(reach - skip, 0)
    result = ColumnVector(vector.count, TEXT, vector.bits + np.minimum(skip, lengths), cut, vector.heap)
    return result, np.flatnonzero(odd)
