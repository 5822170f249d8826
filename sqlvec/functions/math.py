"""Mathematical functions.

An argument that is neither a number nor text that is wholly a number makes the result NULL; so does every domain error and every
result that is no number.  ``ceil``, ``floor`` and ``trunc`` keep integers.  Manual: "Built-In Mathematical SQL Functions".
"""
from __future__ import annotations

import math

from sqlvec.functions.core import int32
from sqlvec.functions.fixed import fixed
from sqlvec.values.numeric_text import number_of_text, real_prefix, scaled
from sqlvec.values.storage import cast_to_real, cast_to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlvec.values.storage import Value

_INFINITY = math.inf
_LN_10 = math.log(10.0)
_LN_2 = math.log(2.0)


def number(value: Value) -> int | float | None:
    """The number of a numeric argument, None for all others."""
    kind = type(value)
    if kind is float or kind is int:
        return value  # type: ignore[return-value]
    if value is None or kind is bytes:
        return None
    return number_of_text(value)  # type: ignore[arg-type]


def _one(function: Callable[[float], float], overflow: Callable[[float], float | None] | None = None) -> Callable[[Value], float | None]:
    """A function of one real; ``overflow`` says what an infinite result is."""

    def call(value: Value) -> float | None:
        argument = number(value)
        if argument is None:
            return None
        argument = float(argument)
        try:
            result = function(argument)
        except ValueError:
            return None
        except OverflowError:
            return overflow(argument) if overflow is not None else _INFINITY
        return result if result == result else None

    return call


def _signed_infinity(argument: float) -> float:
    return math.copysign(_INFINITY, argument)


def _atanh(argument: float) -> float:
    if abs(argument) == 1.0:
        return math.copysign(_INFINITY, argument)
    return math.atanh(argument)


acos = _one(math.acos)
acosh = _one(math.acosh)
asin = _one(math.asin)
asinh = _one(math.asinh)
atan = _one(math.atan)
atanh = _one(_atanh)
cos = _one(math.cos)
cosh = _one(math.cosh)
exp = _one(math.exp)
sin = _one(math.sin)
sinh = _one(math.sinh, _signed_infinity)
sqrt = _one(math.sqrt)
tan = _one(math.tan)
tanh = _one(math.tanh)
degrees = _one(lambda argument: argument * (180.0 / math.pi))
radians = _one(lambda argument: argument * (math.pi / 180.0))


def pi() -> float:
    return math.pi


def atan2(ordinate: Value, abscissa: Value) -> float | None:
    first, second = number(ordinate), number(abscissa)
    if first is None or second is None:
        return None
    return math.atan2(first, second)


def mod(dividend: Value, divisor: Value) -> float | None:
    first, second = number(dividend), number(divisor)
    if first is None or second is None or second == 0:
        return None
    try:
        return math.fmod(first, second)
    except ValueError:
        return None


def power(base: Value, exponent: Value) -> float | None:
    first, second = number(base), number(exponent)
    if first is None or second is None:
        return None
    try:
        return math.pow(first, second)
    except ValueError:
        # Zero to a negative power is infinite, a negative base to a fraction is no number.
        if first == 0 and second < 0:
            odd = float(second).is_integer() and second % 2 == 1
            return math.copysign(_INFINITY, first) if odd else _INFINITY
        return None
    except OverflowError:
        return -_INFINITY if first < 0 and float(second) % 2 == 1 else _INFINITY


def _logarithm_argument(value: Value) -> float | None:
    argument = number(value)
    if argument is None or argument <= 0:
        return None
    return float(argument)


def ln(value: Value) -> float | None:
    argument = _logarithm_argument(value)
    return None if argument is None else math.log(argument)


def log10(value: Value) -> float | None:
    argument = _logarithm_argument(value)
    return None if argument is None else math.log(argument) / _LN_10


def log2(value: Value) -> float | None:
    argument = _logarithm_argument(value)
    return None if argument is None else math.log(argument) / _LN_2


def log(base: Value, value: Value) -> float | None:
    # Only the base must be a number: the other argument is read as a real, by its prefix.
    first = _logarithm_argument(base)
    second = cast_to_real(value)
    if first is None or second is None or second <= 0.0:
        return None
    divisor = math.log(first)
    if divisor <= 0.0:
        return None
    result = math.log(second) / divisor
    return result if result == result else None


def ceil(value: Value) -> int | float | None:
    return _to_integral(value, math.ceil)


def floor(value: Value) -> int | float | None:
    return _to_integral(value, math.floor)


def trunc(value: Value) -> int | float | None:
    return _to_integral(value, math.trunc)


def _to_integral(value: Value, function: Callable[[float], int]) -> int | float | None:
    argument = number(value)
    if argument is None or type(argument) is int:
        return argument
    if abs(argument) >= 4503599627370496.0:
        return argument
    return math.copysign(float(function(argument)), argument)


def sign(value: Value) -> int | None:
    argument = number(value)
    if argument is None:
        return None
    return (argument > 0) - (argument < 0)


def round_(value: Value, digits: Value = 0) -> float | None:
    """round(x [, n]): always real; n is limited to 0 .. 30."""
    if value is None or digits is None:
        return None
    places = min(max(int32(digits), 0), 30)
    kind = type(value)
    argument: float
    if kind is float or kind is int:
        argument = float(value)  # type: ignore[arg-type]
    else:
        argument = real_prefix(cast_to_text(value))  # type: ignore[arg-type]
    if not -4503599627370496.0 <= argument <= 4503599627370496.0:
        return argument
    if places == 0:
        return float(int(argument + (0.5 if argument >= 0 else -0.5)))
    text = fixed(argument, places)
    if len(text) > 19:
        return real_prefix(text)
    result = scaled(abs(int(text.replace(".", ""))), -places)
    return -result if text[0] == "-" else result
