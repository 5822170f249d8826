"""Decimal arithmetic on text: decimal, decimal_add, decimal_sub, decimal_mul, decimal_cmp, decimal_sum, and the collation ``decimal``.

A number is (negative, digits, digits behind the point); the scale of the operands is kept (``1.10 + 2.2`` is ``3.30``), and a product
drops zeros down to the smaller scale.  decimal_cmp looks at the digits as written: 1.0 is greater than 1.

Follows the manual's "The decimal.c Extension".
"""
from __future__ import annotations

from sqlvec.cli.output import decode
from sqlvec.cli.shell import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Decimal = tuple[bool, str, int]  # negative, digits, number of digits behind the point
_SPACES = " \t\n\v\f\r"


def parse(value: Any) -> Decimal | None:
    """The number that a value's text starts with; None for NULL."""
    if value is None:
        return None
    text = decode(value) if isinstance(value, bytes) else value if isinstance(value, str) else text_of(value)
    text = text.lstrip(_SPACES)
    negative = text[:1] == "-"
    position = 1 if text[:1] in ("-", "+") else 0
    while text[position : position + 1] == "0":
        position += 1
    digits: list[str] = []
    point = -1
    while position < len(text):
        char = text[position]
        if "0" <= char <= "9":
            digits.append(char)
        elif char == "." and point < 0:
            point = len(digits)
        elif char in "eE":
            digits, point = _scaled(digits, point, text[position + 1 :])
            break
        else:
            break
        position += 1
    scale = len(digits) - point if point >= 0 else 0
    if scale == len(digits):
        digits.insert(0, "0")
    joined = "".join(digits)
    if len(joined) == 1 and joined == "0":
        negative = False
    return negative, joined, scale


def _scaled(digits: list[str], point: int, exponent_text: str) -> tuple[list[str], int]:
    """Digits moved by the power of ten of an exponent."""
    sign = -1 if exponent_text[:1] == "-" else 1
    number = ""
    for char in exponent_text[1:] if exponent_text[:1] in ("-", "+") else exponent_text:
        if not "0" <= char <= "9":
            break
        number += char
    exponent = sign * min(int(number or "0"), 100_000)
    whole = (len(digits) if point < 0 else point) + exponent
    if whole < 0:
        return ["0"] * (-whole) + digits, 0
    if whole >= len(digits):
        return digits + ["0"] * (whole - len(digits)), -1
    return digits, whole


def text(number: Decimal | None) -> str | None:
    if number is None:
        return None
    negative, digits, scale = number
    whole, fraction = digits[: len(digits) - scale], digits[len(digits) - scale :]
    shown = (whole.lstrip("0") or "0") + ("." + fraction if scale else "")
    return ("-" if negative else "") + shown


def _value(number: Decimal, scale: int) -> int:
    """As an integer at a common scale."""
    negative, digits, own = number
    magnitude = int(digits) * 10 ** (scale - own)
    return -magnitude if negative else magnitude


def _from_value(value: int, scale: int, negative_zero: bool = False) -> Decimal:
    digits = str(abs(value)).rjust(scale + 1, "0")
    return value < 0 or (value == 0 and negative_zero), digits, scale


def add(left: Decimal, right: Decimal) -> Decimal:
    scale = max(left[2], right[2])
    value = _value(left, scale) + _value(right, scale)
    return _from_value(value, scale, left[0] and scale > 0)


def decimal(value: Any) -> str | None:
    return text(parse(value))


def decimal_add(left: Any, right: Any) -> str | None:
    a, b = parse(left), parse(right)
    return None if a is None or b is None else text(add(a, b))


def decimal_sub(left: Any, right: Any) -> str | None:
    a, b = parse(left), parse(right)
    return None if a is None or b is None else text(add(a, (not b[0], b[1], b[2])))


def decimal_mul(left: Any, right: Any) -> str | None:
    a, b = parse(left), parse(right)
    if a is None or b is None:
        return None
    scale = a[2] + b[2]
    digits = str(int(a[1]) * int(b[1])).rjust(scale + 1, "0")
    least = min(a[2], b[2])
    while scale > least and digits.endswith("0"):
        digits = digits[:-1]
        scale -= 1
    return text((a[0] != b[0], digits, scale))


def compare(left: Decimal, right: Decimal) -> int:
    if left[0] != right[0]:
        return -1 if left[0] else 1
    if left[0]:
        left, right = right, left
    a, b = left[1], right[1]
    whole_a, whole_b = len(a) - left[2], len(b) - right[2]
    if whole_a != whole_b:
        return -1 if whole_a < whole_b else 1
    return -1 if a < b else int(a > b)


def decimal_cmp(left: Any, right: Any) -> int | None:
    a, b = parse(left), parse(right)
    return None if a is None or b is None else compare(a, b)


def compare_decimal_text(left: str, right: str) -> int:
    a, b = parse(left), parse(right)
    assert a is not None
    assert b is not None
    return compare(a, b)


class DecimalSum:
    """decimal_sum(X), also over a sliding frame."""

    __slots__ = ("total",)

    def __init__(self) -> None:
        self.total: Decimal | None = None

    def step(self, value: Any) -> None:
        number = parse(value)
        if number is not None:
            self.total = number if self.total is None else add(self.total, number)

    def inverse(self, value: Any) -> None:
        number = parse(value)
        if number is not None and self.total is not None:
            self.total = add(self.total, (not number[0], number[1], number[2]))

    def value(self) -> str | None:
        return text(self.total)
