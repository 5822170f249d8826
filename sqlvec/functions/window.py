"""Facts about window functions that the window operators share: buckets of ntile(), ranks as fractions, argument checks.

The window operators own partitions, peers and frames; here is what depends on the function alone.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.values.storage import cast_to_integer, to_numeric_affinity

TYPE_CHECKING = False
if TYPE_CHECKING:
    Value = None | int | float | str | bytes

# These ignore the frame that the user wrote; the operator computes them from the partition alone.
WHOLE_PARTITION = frozenset(("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead"))


def ntile_count(value: Value) -> int:
    """The checked argument of ntile()."""
    count = cast_to_integer(value) or 0
    if count <= 0:
        raise errors.ntile_argument()
    return count


def ntile_bucket(row: int, rows: int, buckets: int) -> int:
    """1-based bucket of the 0-based ``row``: the first ``rows % buckets`` buckets hold one row more."""
    size, larger = divmod(rows, buckets)
    in_larger = larger * (size + 1)
    if row < in_larger:
        return row // (size + 1) + 1
    return larger + (row - in_larger) // size + 1


def percent_rank(rank: int, rows: int) -> float:
    return (rank - 1) / (rows - 1) if rows > 1 else 0.0


def cume_dist(rows_up_to_peer: int, rows: int) -> float:
    return rows_up_to_peer / rows


def nth_value_position(value: Value) -> int:
    """The checked second argument of nth_value(): a positive integer, integral reals and numeric text included."""
    number = to_numeric_affinity(value)
    if type(number) is not int or number <= 0:
        raise errors.nth_value_argument()
    return number


def offset_distance(value: Value) -> int | None:
    """The second argument of lag() and lead(); NULL means no row."""
    return cast_to_integer(value)
