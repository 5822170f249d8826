"""ieee754(): a double as mantissa and exponent, and back.  Follows the manual's "Floating Point Numbers" (the ieee754.c extension)."""
from __future__ import annotations

import math
import struct

from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _parts(value: Any) -> tuple[int, int]:
    """Mantissa and exponent, the mantissa made odd as long as the exponent stays below zero."""
    if isinstance(value, bytes) and len(value) == 8:
        real = struct.unpack(">d", value)[0]
    else:
        real = resolve("sqlvec.values.arithmetic:to_real")(value) if value is not None else 0.0
    bits = struct.unpack(">q", struct.pack(">d", real))[0]
    negative = bits < 0
    bits &= 0x7FFFFFFFFFFFFFFF
    exponent = bits >> 52
    mantissa = bits & ((1 << 52) - 1)
    if exponent == 0:
        mantissa <<= 1
    else:
        mantissa |= 1 << 52
    while exponent < 1075 and mantissa > 0 and mantissa & 1 == 0:
        mantissa >>= 1
        exponent += 1
    return (-mantissa if negative else mantissa), exponent - 1075


def ieee754(value: Any) -> str:
    mantissa_, exponent_ = _parts(value)
    return f"ieee754({mantissa_},{exponent_})"


def ieee754_value(mantissa_: Any, exponent_: Any) -> float:
    """mantissa * 2 ** exponent, beyond the range infinite or zero."""
    number = resolve("sqlvec.values.arithmetic:cast_to_integer_operand")
    scaled = number(mantissa_)
    power = max(-10_000, min(10_000, number(exponent_)))
    sign = -1 if scaled < 0 else 1
    size = abs(scaled)
    while size and (size >> 53 or power < -1074):
        # Bits beyond those of a double are cut off, not rounded.
        size >>= 1
        power += 1
    scaled = sign * size
    try:
        return math.ldexp(scaled, power)
    except OverflowError:
        return math.inf if scaled > 0 else -math.inf


def mantissa(value: Any) -> int:
    return _parts(value)[0]


def exponent(value: Any) -> int:
    return _parts(value)[1]


def to_blob(value: Any) -> bytes | None:
    return struct.pack(">d", value) if isinstance(value, (int, float)) else None


def from_blob(value: Any) -> float | None:
    if isinstance(value, bytes) and len(value) == 8:
        number: float = struct.unpack(">d", value)[0]
        return None if number != number else number
    return None
