"""Operators on values: arithmetic, bits, concatenation and truth, with SQLite's NULL, overflow and text rules.

Text and blob operands count as their numeric prefix.  Integer results beyond 64 bits are computed again as reals.  A result that
is not a number becomes NULL.  Every function exits first for the common pair of two integers or two reals.
"""
from __future__ import annotations

import math

from sqlvec.values.numeric_text import MAX_INTEGER, MIN_INTEGER, number_prefix, real_prefix
from sqlvec.values.storage import cast_to_integer, cast_to_text
from sqlvec.values.text import canonical, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Value = None | int | float | str | bytes

_WORD = 0xFFFFFFFFFFFFFFFF


def to_number(value: Value) -> int | float:
    """The numeric value of a non-NULL operand."""
    kind = type(value)
    if kind is int or kind is float:
        return value  # type: ignore[return-value]
    return number_prefix(cast_to_text(value))  # type: ignore[arg-type]


def to_real(value: Value) -> float:
    """A non-NULL operand of real arithmetic; text is read as a real at once, so '-0' is -0.0."""
    kind = type(value)
    if kind is float or kind is int:
        return float(value)  # type: ignore[arg-type]
    return real_prefix(cast_to_text(value))  # type: ignore[arg-type]


def add(left: Value, right: Value) -> int | float | None:
    if type(left) is int and type(right) is int:
        result = left + right
        if MIN_INTEGER <= result <= MAX_INTEGER:
            return result
        return float(left) + float(right)
    if (type(left) is float or type(left) is int) and (type(right) is float or type(right) is int):
        total = left + right
        return total if total == total else None
    if left is None or right is None:
        return None
    first = to_number(left)
    second = to_number(right)
    if type(first) is int and type(second) is int:
        return add(first, second)
    total = to_real(left) + to_real(right)
    return total if total == total else None


def subtract(left: Value, right: Value) -> int | float | None:
    if type(left) is int and type(right) is int:
        result = left - right
        if MIN_INTEGER <= result <= MAX_INTEGER:
            return result
        return float(left) - float(right)
    if (type(left) is float or type(left) is int) and (type(right) is float or type(right) is int):
        total = left - right
        return total if total == total else None
    if left is None or right is None:
        return None
    first = to_number(left)
    second = to_number(right)
    if type(first) is int and type(second) is int:
        return subtract(first, second)
    total = to_real(left) - to_real(right)
    return total if total == total else None


def multiply(left: Value, right: Value) -> int | float | None:
    if type(left) is int and type(right) is int:
        result = left * right
        if MIN_INTEGER <= result <= MAX_INTEGER:
            return result
        return float(left) * float(right)
    if (type(left) is float or type(left) is int) and (type(right) is float or type(right) is int):
        total = left * right
        return total if total == total else None
    if left is None or right is None:
        return None
    first = to_number(left)
    second = to_number(right)
    if type(first) is int and type(second) is int:
        return multiply(first, second)
    total = to_real(left) * to_real(right)
    return total if total == total else None


def divide(left: Value, right: Value) -> int | float | None:
    """Integers truncate toward zero; division by zero is NULL."""
    if left is None or right is None:
        return None
    first = to_number(left)
    second = to_number(right)
    if not second:
        return None
    if type(first) is int and type(second) is int:
        if (first < 0) is (second < 0):
            result = first // second
            return result if result <= MAX_INTEGER else float(first) / float(second)
        return -(-first // second)
    total = to_real(left) / float(second)
    return total if total == total else None


def remainder(left: Value, right: Value) -> int | float | None:
    """Operands are cut to integers; the sign follows the dividend; real when an operand is real."""
    if type(left) is int and type(right) is int:
        if right > 0 and left >= 0:
            return left % right
    elif left is None or right is None:
        return None
    is_real = type(to_number(left)) is float or type(to_number(right)) is float
    dividend = cast_to_integer_operand(left)
    divisor = cast_to_integer_operand(right)
    if not divisor:
        return None
    result = abs(dividend) % abs(divisor)
    if dividend < 0:
        result = -result
    return float(result) if is_real else result


def negate(value: Value) -> int | float | None:
    kind = type(value)
    if kind is int:
        return -value if value != MIN_INTEGER else -float(value)  # type: ignore[operator,arg-type]
    return subtract(0, value)


def unsigned(value: int) -> int:
    return value & _WORD


def signed(value: int) -> int:
    """The low 64 bits of an integer as a signed value."""
    value &= _WORD
    return value - 0x10000000000000000 if value >> 63 else value


def bit_and(left: Value, right: Value) -> int | None:
    if type(left) is int and type(right) is int:
        return left & right
    if left is None or right is None:
        return None
    return cast_to_integer_operand(left) & cast_to_integer_operand(right)


def bit_or(left: Value, right: Value) -> int | None:
    if type(left) is int and type(right) is int:
        return left | right
    if left is None or right is None:
        return None
    return cast_to_integer_operand(left) | cast_to_integer_operand(right)


def bit_not(value: Value) -> int | None:
    if value is None:
        return None
    return ~cast_to_integer_operand(value)


def cast_to_integer_operand(value: Value) -> int:
    if type(value) is int:
        return value
    return cast_to_integer(value) or 0


def shift_left(left: Value, right: Value) -> int | None:
    if left is None or right is None:
        return None
    return _shift(cast_to_integer_operand(left), cast_to_integer_operand(right))


def shift_right(left: Value, right: Value) -> int | None:
    if left is None or right is None:
        return None
    return _shift(cast_to_integer_operand(left), -cast_to_integer_operand(right))


def _shift(value: int, count: int) -> int:
    """Left for positive counts, arithmetic right for negative ones; everything is gone from 64 on."""
    if count >= 0:
        return 0 if count > 63 else signed(value << count)
    if count < -63:
        return -1 if value < 0 else 0
    return value >> -count


def concat(left: Value, right: Value) -> str | None:
    if type(left) is str and type(right) is str:
        return canonical(left + right)
    if left is None or right is None:
        return None
    return canonical(cast_to_text(left) + cast_to_text(right))  # type: ignore[operator]


READ_BLOBS = frozenset(
    ("add", "subtract", "multiply", "divide", "remainder", "negate", "bit_and", "bit_or", "bit_not", "shift_left", "shift_right", "concat")
)


def for_encoding(function: Callable[..., Any], encoding: int) -> Callable[..., Any]:
    """An operator of a UTF-16 database: blob operands are text of that encoding."""
    return lambda *operands: function(*[decode(operand, encoding) if type(operand) is bytes else operand for operand in operands])


def truth(value: Value) -> bool | None:
    """True, False, or None for NULL."""
    kind = type(value)
    if kind is int or kind is float:
        return value != 0
    if value is None:
        return None
    return number_prefix(cast_to_text(value)) != 0  # type: ignore[arg-type]


def not_(value: Value) -> int | None:
    state = truth(value)
    return None if state is None else int(not state)


def logical_and(left: Value, right: Value) -> int | None:
    first, second = truth(left), truth(right)
    if first is False or second is False:
        return 0
    return None if first is None or second is None else 1


def logical_or(left: Value, right: Value) -> int | None:
    first, second = truth(left), truth(right)
    if first or second:
        return 1
    return None if first is None or second is None else 0


def is_true(value: Value) -> int:
    return 1 if truth(value) else 0


def is_false(value: Value) -> int:
    return 1 if truth(value) is False else 0


def is_number(value: float) -> bool:
    """False for NaN, which SQLite never lets out of an operator."""
    return not math.isnan(value)
