"""Comparison of two vectors, by class pair.

``compare(operator, left, right, collation)`` gives two masks: where the comparison is true, and where it is unknown (None for nowhere).
Kernels know pure classes: integer with integer, real with real, integer with real (exactly: no integer goes through a double that can't
hold it), bytes with bytes.  Values of different classes are ordered NULL < numbers < text < blob.  A vector of mixed classes is split by
class pair and the parts are put together.

Affinity has been applied before (see exec/vector/evaluate.py).  Follows "Datatypes In SQLite", section 4.
"""
from __future__ import annotations

from sqlvec.columnar.kernels.text import equal_bytes, folded, order_bytes
from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import INTEGER, NULL, REAL, TEXT, ColumnVector, of_one_tag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_RANK = (0, 1, 1, 2, 3)
_EXACT = 1 << 53
_OPERATIONS = {"=": np.equal, "<>": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


def compare(operator: str, left: ColumnVector, right: ColumnVector, collation: str = "BINARY") -> tuple[Any, Any]:
    """(mask of true, mask of unknown or None) of ``left operator right`` for = <> < <= > >= IS and IS NOT."""
    n = max(left.count, right.count)
    collation = collation.upper()
    if left.bits is None:
        left = left.flat()
    if right.bits is None:
        right = right.flat()
    if operator in ("IS", "IS NOT"):
        return _identity(operator, left, right, collation, n), None
    if type(left.tags) is int and type(right.tags) is int:
        if left.tags == NULL or right.tags == NULL:
            return np.zeros(n, bool), np.ones(n, bool)
        mask = _pure(operator, left, right, collation)
        return (mask if len(mask) == n else np.full(n, bool(mask[0]))), None
    return _split(operator, left, right, collation, n)


def _identity(operator: str, left: ColumnVector, right: ColumnVector, collation: str, n: int) -> Any:
    mask, unknown = compare("=", left, right, collation)
    if unknown is not None:
        mask = mask | ((left.tag_array() == NULL) & (right.tag_array() == NULL))
    return mask if operator == "IS" else ~mask


def _split(operator: str, left: ColumnVector, right: ColumnVector, collation: str, n: int) -> tuple[Any, Any]:
    """Mixed classes: one pure comparison per pair of classes that occurs."""
    pairs = np.zeros(n, np.uint8)
    pairs += np.uint8(5) * left.tags if type(left.tags) is not int else np.uint8(5 * left.tags)
    pairs += right.tags if type(right.tags) is not int else np.uint8(right.tags)
    counts = np.bincount(pairs, minlength=25)
    most = int(counts.argmax())
    left_tag, right_tag = divmod(most, 5)
    if 2 * int(counts[most]) > n and left_tag in (INTEGER, REAL) and right_tag in (INTEGER, REAL):
        # nearly all are such numbers: compare all rows as if they were, then put the others right
        mask = _pure(operator, of_one_tag(left, left_tag), of_one_tag(right, right_tag), collation)
        counts[most] = 0
    else:
        mask = np.zeros(n, bool)
    unknown = None
    for pair in np.flatnonzero(counts).tolist():
        left_tag, right_tag = divmod(pair, 5)
        rows = np.flatnonzero(pairs == pair)
        if left_tag == NULL or right_tag == NULL:
            if unknown is None:
                unknown = np.zeros(n, bool)
            unknown[rows] = True
            mask[rows] = False
        elif _RANK[left_tag] != _RANK[right_tag]:
            mask[rows] = bool(_OPERATIONS[operator](_RANK[left_tag], _RANK[right_tag]))
        else:
            mask[rows] = _pure(operator, _part(left, rows, left_tag), _part(right, rows, right_tag), collation)
    return mask, unknown


def _part(vector: ColumnVector, rows: Any, tag: int) -> ColumnVector:
    if vector.is_constant:
        return ColumnVector(len(rows), tag, vector.bits, vector.length, vector.heap, True)
    part = vector.take(rows)
    return ColumnVector(part.count, tag, part.bits, part.length, part.heap)


def _pure(operator: str, left: ColumnVector, right: ColumnVector, collation: str) -> Any:
    """Both of one class each, neither NULL."""
    a, b = left.tags, right.tags
    operation = _OPERATIONS[operator]
    if a == INTEGER and b == INTEGER:
        return operation(left.bits, right.bits)
    if a == REAL and b == REAL:
        return operation(left.reals, right.reals)
    if _RANK[a] != _RANK[b]:
        n = max(len(left.bits), len(right.bits))
        return np.full(n, bool(operation(_RANK[a], _RANK[b])))
    if a < TEXT:
        if a == INTEGER:
            return _integer_with_real(operation, left.bits, right.reals)
        return _integer_with_real(_OPERATIONS[_MIRRORED[operator]], right.bits, left.reals)
    if a == TEXT and collation != "BINARY":
        left, right = folded(left, collation), folded(right, collation)
    if operator == "=":
        return equal_bytes(left, right)
    if operator == "<>":
        return ~equal_bytes(left, right)
    if operator in (">", "<="):
        less, equal = order_bytes(left, right)
        less |= equal
        return less if operator == "<=" else ~less
    less, _ = order_bytes(left, right)
    return less if operator == "<" else ~less


_MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _integer_with_real(operation: Any, integers: Any, doubles: Any) -> Any:
    """``integer operation real``, exactly."""
    if not len(integers) or (int(integers.max()) <= _EXACT and int(integers.min()) >= -_EXACT):
        return operation(integers.astype(np.float64), doubles)
    if len(integers) < len(doubles):
        integers = np.broadcast_to(integers, len(doubles))
    elif len(doubles) < len(integers):
        doubles = np.broadcast_to(doubles, len(integers))
    return operation(_sign_against_real(integers, doubles), 0)


def _sign_against_real(integers: Any, doubles: Any) -> Any:
    """-1, 0 or 1: how each integer compares with the double beside it."""
    inside = (doubles >= -9223372036854775808.0) & (doubles < 9223372036854775808.0)
    cut = np.trunc(np.where(inside, doubles, 0.0))
    whole = cut.astype(np.int64)
    sign = np.sign((integers > whole).astype(np.int8) - (integers < whole).astype(np.int8))
    fraction = np.where(inside, doubles, 0.0) - cut
    sign = np.where(sign == 0, -np.sign(fraction).astype(np.int8), sign)
    return np.where(inside, sign, np.where(doubles > 0, np.int8(-1), np.int8(1)))
