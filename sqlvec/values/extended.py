"""Numbers of the x87 80-bit format, in integer arithmetic.

SQLite converts between reals and text in ``long double``, which on x86-64 has a 64-bit mantissa; each single step rounds to 64
bits, half to even, and only the final result rounds to a double.  Correctly rounded conversions differ in the last digit now and
then, so the steps are modelled here exactly.

A number is a pair ``(mantissa, exponent)`` of value ``mantissa * 2**exponent``, mantissa below 2**64 (not necessarily
normalised), never negative.  The exponent has no limit: no conversion leaves the range of the real format.
"""
from __future__ import annotations

import math

ONE = (1, 0)


def rounded(mantissa: int, exponent: int) -> tuple[int, int]:
    """Round an exact ``mantissa * 2**exponent`` to 64 bits, half to even."""
    excess = mantissa.bit_length() - 64
    if excess <= 0:
        return mantissa, exponent
    half = 1 << (excess - 1)
    tail = mantissa & ((half << 1) - 1)
    mantissa >>= excess
    if tail > half or (tail == half and mantissa & 1):
        mantissa += 1
        if mantissa >> 64:
            mantissa >>= 1
            exponent += 1
    return mantissa, exponent + excess


def from_double(value: float) -> tuple[int, int]:
    """A finite, non-negative double, exactly."""
    fraction, exponent = math.frexp(value)
    return int(fraction * 9007199254740992.0), exponent - 53


def multiply(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    return rounded(left[0] * right[0], left[1] + right[1])


def divide(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    """Quotient rounded once; the sticky bit below 66 quotient bits decides ties."""
    mantissa, exponent = left
    divisor = right[0]
    shift = 66 - mantissa.bit_length() + divisor.bit_length()
    if shift < 0:
        shift = 0
    quotient, remainder = divmod(mantissa << shift, divisor)
    return rounded(quotient << 1 | (remainder != 0), exponent - right[1] - shift - 1)


def add(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    mantissa, exponent = left
    other, low = right
    if exponent > low:
        if exponent - low > 300 and other.bit_length() < 65 and mantissa:
            low = exponent - 80
            other = 1
        return rounded((mantissa << (exponent - low)) + other, low)
    if low - exponent > 300 and other:
        return rounded((other << 80) + (1 if mantissa else 0), low - 80)
    return rounded(mantissa + (other << (low - exponent)), exponent)


def less(left: tuple[int, int], right: tuple[int, int]) -> bool:
    mantissa, exponent = left
    other, low = right
    if exponent > low:
        return (mantissa << (exponent - low)) < other
    return mantissa < (other << (low - exponent))


def to_double(number: tuple[int, int]) -> float:
    """Round to the nearest double, half to even, subnormals included."""
    mantissa, exponent = number
    if not mantissa:
        return 0.0
    top = mantissa.bit_length() + exponent
    if top > 1024:
        return math.inf
    if top < -1021:
        # Subnormal: the last bit is worth 2**-1074.
        drop = -1074 - exponent
        if drop > mantissa.bit_length() + 1:
            return 0.0
        if drop > 0:
            half = 1 << (drop - 1)
            tail = mantissa & ((half << 1) - 1)
            mantissa >>= drop
            if tail > half or (tail == half and mantissa & 1):
                mantissa += 1
            exponent = -1074
        return math.ldexp(float(mantissa), exponent)
    try:
        return math.ldexp(float(mantissa), exponent)
    except OverflowError:
        return math.inf


def power_of_ten(exponent: int) -> tuple[int, int]:
    """10**exponent as SQLite computes it: by repeated squaring, each product rounded (exact up to 10**27)."""
    found = _powers.get(exponent)
    if found is None:
        result = ONE
        square = (10, 0)
        rest = exponent
        while True:
            if rest & 1:
                result = multiply(result, square)
            rest >>= 1
            if not rest:
                break
            square = multiply(square, square)
        found = _powers[exponent] = result
    return found


_powers: dict[int, tuple[int, int]] = {}
