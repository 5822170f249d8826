"""Reals with a fixed number of decimals: the ``%.Nf`` of printf() and the base of round().

The original adds half a unit of the last place, and for few digits also the value times 3e-16, in 80-bit arithmetic, then cuts
digits off; at most 16 digits (26 with ``!``) are real, the others are zeros.  Away from ties this is the correctly rounded
decimal, which Python's formatting gives; next to a tie the model runs.
"""
from __future__ import annotations

import math

from sqlvec.values.extended import add, from_double, multiply, rounded
from sqlvec.values.numeric_text import extract_digits, half_unit, normalise

_NUDGE = from_double(3.0e-16)


def fixed(value: float, places: int) -> str:
    """``%.*f`` of a finite real, with sign."""
    size = abs(value)
    if places <= 9 and size * 10.0**places < 1e10:
        text = f"{size:.{places + 6}f}"
        if not -20 < int(text[-6:]) - 500000 < 20:
            return f"{value or 0.0:.{places}f}"
    sign = "-" if value < 0 else ""
    digits, exponent = fixed_digits(size, places, 16)
    if exponent > 350:
        return sign + "Inf"
    return sign + place_point(digits, exponent, places)


def place_point(digits: str, exponent: int, places: int) -> str:
    """Lay out digits of a number ``d.ddd * 10**exponent`` with a fixed number of decimals."""
    if exponent < 0:
        whole = "0"
        fraction = ("0" * (-exponent - 1) + digits)[:places]
    else:
        whole = digits[: exponent + 1]
        fraction = digits[exponent + 1 :]
    return f"{whole}.{fraction.ljust(places, '0')}" if places else whole


def fixed_digits(value: float, places: int, real_digits: int) -> tuple[str, int]:
    """The digits that ``%.Nf`` prints and the decimal exponent of the first; only digits that the places reach."""
    number = from_double(value)
    rounder = half_unit(places)
    if value:
        binary_exponent = math.frexp(value)[1] - 1
        # C integer division truncates toward zero.
        third = abs(binary_exponent) // 3
        if places + (third if binary_exponent >= 0 else -third) < 15:
            rounder = add(rounder, multiply(number, _NUDGE))
            rounder = rounded(*rounder)
    number = add(number, rounder)
    if not number[0]:
        return "0" * (places + 1), 0
    number, exponent = normalise(number)
    count = exponent + 1 + places
    if count <= 0:
        return "", exponent
    return extract_digits(number, count, real_digits), exponent
