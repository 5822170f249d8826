"""Arithmetic of two vectors of numbers: + - * / %, minus, and the bit operations.

A kernel takes operands of one class each, INTEGER or REAL, and returns ``(vector, declined)``: ``declined`` are row positions whose result
it can't give (integer overflow, the corner cases of division), or None.  The caller computes those with the scalar function of
values/arithmetic.py.  Integers never travel through doubles on the way to an integer result.  A result that is not a number is NULL.

Constants have arrays of one element, so they broadcast.
"""
from __future__ import annotations

from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import INTEGER, NULL, REAL, ColumnVector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LIMIT = 1 << 63


def _magnitude(values: Any) -> int:
    return max(abs(int(values.max())), abs(int(values.min()))) if len(values) else 0


def _shaped(count: int, tags: Any, bits: Any, left: ColumnVector, right: ColumnVector) -> ColumnVector:
    if left.is_constant and right.is_constant:
        if type(tags) is not int:
            tags = int(tags[0])
        return ColumnVector(count, tags, bits, None, None, True)
    return ColumnVector(count, tags, bits)


def _as_doubles(vector: ColumnVector) -> Any:
    return vector.reals if vector.tags == REAL else vector.bits.astype(np.float64)


def _real_result(left: ColumnVector, right: ColumnVector, doubles: Any, null: Any = None) -> ColumnVector:
    bad = np.isnan(doubles)
    if null is not None:
        bad |= null
    bits = doubles.view(np.int64)
    if bad.any():
        tags: Any = np.where(bad, np.uint8(NULL), np.uint8(REAL))
        return _shaped(left.count, tags, np.where(bad, 0, bits), left, right)
    return _shaped(left.count, REAL, bits, left, right)


def binary(operator: str, left: ColumnVector, right: ColumnVector) -> tuple[ColumnVector, Any]:
    """``left operator right`` for + - * / % & | ; see the module text."""
    if left.tags == REAL or right.tags == REAL:
        return _REAL_KERNELS[operator](left, right) if operator in _REAL_KERNELS else _everything_declined(left)
    return _INTEGER_KERNELS[operator](left, right) if operator in _INTEGER_KERNELS else _everything_declined(left)


def _everything_declined(left: ColumnVector) -> tuple[ColumnVector, Any]:
    n = left.count
    return ColumnVector(n, NULL, np.zeros(n, np.int64)), np.arange(n, dtype=np.int64)


def _declined(mask: Any, left: ColumnVector) -> Any:
    if len(mask) == left.count:
        return np.flatnonzero(mask)
    return np.arange(left.count, dtype=np.int64)


def _add(left: ColumnVector, right: ColumnVector) -> tuple[ColumnVector, Any]:
    a, b = left.bits, right.bits
    total = a + b
    vector = _shaped(left.count, INTEGER, total, left, right)
    if _magnitude(a) + _magnitude(b) < _LIMIT:
        return vector, None
    over = ((a ^ total) & (b ^ total)) < 0
    return (vector, _declined(over, left)) if over.any() else (vector, None)


def _subtract(left: ColumnVector, right: ColumnVector) -> tuple[ColumnVector, Any]:
    a, b = left.bits, right.bits
    total = a - b
    vector = _shaped(left.count, INTEGER, total, left, right)
    if _magnitude(a) + _magnitude(b) < _LIMIT:
        return vector, None
    over = ((a ^ b) & (a ^ total)) < 0
    return (vector, _declined(over, left)) if over.any() else (vector, None)


def _multiply(left: ColumnVector, right: ColumnVector) -> tuple[ColumnVector, Any]:
    a, b = left.bits, right.bits
    vector = _shaped(left.count, INTEGER, a * b, left, right)
    if _magnitude(a) * _magnitude(b) < _LIMIT:
        return vector, None
    over = np.abs(a.astype(np.float64) * b.astype(np.float64)) >= 9.2e18
    return (vector, _declined(over, left)) if over.any() else (vector, None)


def _divide(left: ColumnVector, right: ColumnVector) -> tuple[ColumnVector, Any]:
    a, b = left.bits, right.bits
    zero = b == 0
    safe = np.where(zero, 1, b) if zero.any() else b
    quotient = a // safe
    # numpy rounds down, SQL cuts towards zero
    quotient += ((a % safe) != 0) & ((a < 0) != (safe < 0))
    odd = (a == -_LIMIT) & (b == -1)
    declined = _declined(odd, left) if odd.any() else None
    if zero.any():
        zero = np.broadcast_to(zero, len(quotient))
        tags: Any = np.where(zero, np.uint8(NULL), np.uint8(INTEGER))
        return _shaped(left.count, tags, np.where(zero, 0, quotient), left, right), declined
    return _shaped(left.count, INTEGER, quotient, left, right), declined


def _remainder(left: ColumnVector, right: ColumnVector) -> tuple[ColumnVector, Any]:
    a, b = left.bits, right.bits
    odd = (b == 0) | (b == -1)
    rest = np.fmod(a, np.where(odd, 1, b)) if odd.any() else np.fmod(a, b)
    if odd.any():
        rest = np.broadcast_to(rest, max(len(a), len(b)))
        zero = np.broadcast_to(b == 0, len(rest))
        tags: Any = np.where(zero, np.uint8(NULL), np.uint8(INTEGER))
        return _shaped(left.count, tags, rest.copy(), left, right), None
    return _shaped(left.count, INTEGER, rest, left, right), None


def _bit_and(left: ColumnVector, right: ColumnVector) -> tuple[ColumnVector, Any]:
    return _shaped(left.count, INTEGER, left.bits & right.bits, left, right), None


def _bit_or(left: ColumnVector, right: ColumnVector) -> tuple[ColumnVector, Any]:
    return _shaped(left.count, INTEGER, left.bits | right.bits, left, right), None


def _add_reals(left: ColumnVector, right: ColumnVector) -> tuple[ColumnVector, Any]:
    return _real_result(left, right, _as_doubles(left) + _as_doubles(right)), None


def _subtract_reals(left: ColumnVector, right: ColumnVector) -> tuple[ColumnVector, Any]:
    return _real_result(left, right, _as_doubles(left) - _as_doubles(right)), None


def _multiply_reals(left: ColumnVector, right: ColumnVector) -> tuple[ColumnVector, Any]:
    return _real_result(left, right, _as_doubles(left) * _as_doubles(right)), None


def _divide_reals(left: ColumnVector, right: ColumnVector) -> tuple[ColumnVector, Any]:
    divisor = _as_doubles(right)
    zero = divisor == 0.0
    if zero.any():
        doubles = _as_doubles(left) / np.where(zero, 1.0, divisor)
        return _real_result(left, right, doubles, np.broadcast_to(zero, len(doubles))), None
    return _real_result(left, right, _as_doubles(left) / divisor), None


_INTEGER_KERNELS = {"+": _add, "-": _subtract, "*": _multiply, "/": _divide, "%": _remainder, "&": _bit_and, "|": _bit_or}
_REAL_KERNELS = {"+": _add_reals, "-": _subtract_reals, "*": _multiply_reals, "/": _divide_reals}


def negate(operand: ColumnVector) -> tuple[ColumnVector, Any]:
    """Unary minus of one class of numbers."""
    if operand.tags == REAL:
        return ColumnVector(operand.count, REAL, (-operand.reals).view(np.int64), None, None, operand.is_constant), None
    low = operand.bits == -_LIMIT
    vector = ColumnVector(operand.count, INTEGER, -operand.bits, None, None, operand.is_constant)
    return vector, _declined(low, operand) if low.any() else None
