"""The collation ``uint``: runs of digits compare as numbers, everything else as bytes.  Follows the manual's "The UINT Collating Sequence"."""
from __future__ import annotations

from sqlvec.cli.output import encode


def compare_uint(left: str, right: str) -> int:
    a, b = encode(left), encode(right)
    i = j = 0
    while i < len(a) and j < len(b):
        if 48 <= a[i] <= 57 and 48 <= b[j] <= 57:
            end_a, end_b = _digits_end(a, i), _digits_end(b, j)
            x, y = a[i:end_a].lstrip(b"0"), b[j:end_b].lstrip(b"0")
            if (len(x), x) != (len(y), y):
                return -1 if (len(x), x) < (len(y), y) else 1
            i, j = end_a, end_b
        elif a[i] != b[j]:
            return -1 if a[i] < b[j] else 1
        else:
            i += 1
            j += 1
    return (len(a) - i > 0) - (len(b) - j > 0)


def _digits_end(data: bytes, position: int) -> int:
    while position < len(data) and 48 <= data[position] <= 57:
        position += 1
    return position
