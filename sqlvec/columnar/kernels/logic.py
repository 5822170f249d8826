"""Three-valued logic over masks.

A truth value of many rows is a pair ``(true, unknown)``: a boolean array of the rows that are true, and one of the rows that are unknown
(None where no row is).  No row is in both.
"""
from __future__ import annotations

from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import INTEGER, NULL, REAL, ColumnVector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def all_of(left: tuple[Any, Any], right: tuple[Any, Any]) -> tuple[Any, Any]:
    """AND."""
    true = left[0] & right[0]
    if left[1] is None and right[1] is None:
        return true, None
    left_possible = left[0] if left[1] is None else left[0] | left[1]
    right_possible = right[0] if right[1] is None else right[0] | right[1]
    return true, _some(left_possible & right_possible & ~true)


def any_of(left: tuple[Any, Any], right: tuple[Any, Any]) -> tuple[Any, Any]:
    """OR."""
    true = left[0] | right[0]
    if left[1] is None and right[1] is None:
        return true, None
    unknown = left[1] if right[1] is None else right[1] if left[1] is None else left[1] | right[1]
    return true, _some(unknown & ~true)


def negation(value: tuple[Any, Any]) -> tuple[Any, Any]:
    """NOT."""
    true, unknown = value
    if unknown is None:
        return ~true, None
    return ~(true | unknown), unknown


def _some(mask: Any) -> Any:
    return mask if mask.any() else None


def to_vector(value: tuple[Any, Any]) -> ColumnVector:
    """The integers 1 and 0, NULL for unknown."""
    true, unknown = value
    if unknown is None:
        return ColumnVector(len(true), INTEGER, true.astype(np.int64))
    return ColumnVector(len(true), np.where(unknown, np.uint8(NULL), np.uint8(INTEGER)), true.astype(np.int64))


def of_numbers(vector: ColumnVector) -> tuple[Any, Any]:
    """Truth of a vector without text and blobs: not zero."""
    if type(vector.tags) is int:
        if vector.tags == NULL:
            return np.zeros(vector.count, bool), np.ones(vector.count, bool)
        true = vector.reals != 0.0 if vector.tags == REAL else vector.bits != 0
        return (np.full(vector.count, bool(true[0])) if vector.is_constant else true), None
    true = np.where(vector.tags == REAL, vector.reals != 0.0, vector.bits != 0)
    unknown = vector.tags == NULL
    return true & ~unknown, _some(unknown)
