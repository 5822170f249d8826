"""Numbers as text and text as numbers, digit for digit as SQLite 3.40.1 on x86-64.

Reading.  At most 19 significant digits are kept, the rest only moves the exponent; the scaling by a power of ten is one or two
80-bit operations (:mod:`sqlvec.values.extended`), then the result rounds to a double.

Writing.  Digits are produced in 80-bit arithmetic after half a unit of the last place was added.  Up to 15 digits this is the
correctly rounded decimal except next to a tie, so the fast way asks Python for 19 digits and only near a tie runs the model.

Space around a number is any of space, ``\\t \\n \\v \\f \\r``; nothing else, underscores and non-ASCII digits least of all.
"""
from __future__ import annotations

from sqlvec.values.extended import add, divide, from_double, less, multiply, power_of_ten, rounded, to_double

SPACE = " \t\n\v\f\r"
MAX_INTEGER = 9223372036854775807
MIN_INTEGER = -9223372036854775808
_NUMBER_CHARACTERS = "0123456789+-.eE"
_DIGITS = "0123456789"
_KEEP_BELOW = (MAX_INTEGER - 9) // 10

# --- reading -----------------------------------------------------------------------------------------------------------------


def number_of_text(text: str) -> int | float | None:
    """The number that the whole text spells (spaces around it allowed), else None.

    Text that looks like an integer and fits 64 bits is an int; everything else that is a number is a float.
    """
    if len(text) < 19 and text.isdigit() and text.isascii():
        return int(text)
    text = text.strip(SPACE)
    if not text or text.strip(_NUMBER_CHARACTERS):
        return None
    body = text[1:] if text[0] in "+-" else text
    if body.isdigit():
        if len(body) > 4000:
            body = body.lstrip("0") or "0"
            if len(body) > 19:
                return _real(text)
        number = int(body)
        if text[0] == "-":
            number = -number
        if MIN_INTEGER <= number <= MAX_INTEGER:
            return number
        return _real(text)
    try:
        float(text)
    except ValueError:
        return None
    return _real(text)


def number_prefix(text: str) -> int | float:
    """The operand of arithmetic: longest numeric prefix, int when it is a pure integer that fits, 0 when there is none."""
    number = number_of_text(text)
    if number is not None:
        return number
    prefix = _prefix(text)
    if not prefix:
        return 0
    if prefix.strip(_DIGITS + "+-"):
        return _real(prefix)
    number = integer_or_none(prefix)
    return _real(prefix) if number is None else number


def real_prefix(text: str) -> float:
    """The value as CAST(... AS REAL) reads it: longest numeric prefix, else 0.0."""
    number = number_of_text(text)
    if number is not None:
        # An integer may lose bits or the sign of its zero on the way: read it as a real.
        return number if type(number) is float else _real(text.strip(SPACE))
    prefix = _prefix(text)
    if prefix:
        return _real(prefix)
    return -0.0 if text.lstrip(SPACE)[:1] == "-" else 0.0


def integer_prefix(text: str) -> int:
    """The value as CAST(... AS INTEGER) reads it: sign and digits, saturating; 0 when there are none."""
    if len(text) < 19 and text.isdigit() and text.isascii():
        return int(text)
    text = text.lstrip(SPACE)
    start = 1 if text[:1] in ("+", "-") else 0
    size = len(text) - len(text[start:].lstrip(_DIGITS))
    if size == start:
        return 0
    digits = text[start:size].lstrip("0")
    if len(digits) > 19:
        return MIN_INTEGER if text[0] == "-" else MAX_INTEGER
    number = int(digits or "0")
    if text[0] == "-":
        return max(-number, MIN_INTEGER)
    return min(number, MAX_INTEGER)


def integer_or_none(text: str) -> int | None:
    """``[sign] digits`` as an int if it fits 64 bits."""
    sign = text[:1]
    digits = (text[1:] if sign in ("+", "-") else text).lstrip("0") or "0"
    if len(digits) > 19:
        return None
    number = -int(digits) if sign == "-" else int(digits)
    return number if MIN_INTEGER <= number <= MAX_INTEGER else None


def _prefix(text: str) -> str:
    """The longest prefix that is a number, without leading space; empty when there is none."""
    text = text.lstrip(SPACE)
    size = len(text)
    position = 1 if text[:1] in ("+", "-") else 0
    start = position
    while position < size and text[position] in _DIGITS:
        position += 1
    digits = position - start
    if position < size and text[position] == ".":
        after = position + 1
        while after < size and text[after] in _DIGITS:
            after += 1
        if digits or after > position + 1:
            digits += after - position - 1
            position = after
    if not digits and text[position - 1 : position] != ".":
        return ""
    if position < size and text[position] in "eE":
        after = position + 1
        if after < size and text[after] in "+-":
            after += 1
        if after < size and text[after] in _DIGITS:
            while after < size and text[after] in _DIGITS:
                after += 1
            position = after
    return text[:position]


def _real(text: str) -> float:
    """The double that a well-formed decimal spells."""
    negative = text[0] == "-"
    mantissa, _, power = text.lower().partition("e")
    whole, _, fraction = mantissa.lstrip("+-").partition(".")
    digits = whole.lstrip("0") + fraction if whole else fraction
    exponent = -len(fraction)
    if power:
        size = power.lstrip("+-").lstrip("0") or "0"
        exponent += (-1 if power[0] == "-" else 1) * (int(size) if len(size) < 6 else 100000)
    digits = digits.lstrip("0")
    if not digits:
        return -0.0 if negative else 0.0
    significand = int(digits[:18])
    if len(digits) > 18:
        kept = 18
        if significand < _KEEP_BELOW:
            significand = significand * 10 + ord(digits[18]) - 48
            kept = 19
        exponent += len(digits) - kept
    result = scaled(significand, exponent)
    return -result if negative else result


def scaled(significand: int, exponent: int) -> float:
    """``significand * 10**exponent`` through the 80-bit steps."""
    if exponent > 0:
        while exponent > 0 and significand < MAX_INTEGER // 10:
            significand *= 10
            exponent -= 1
    else:
        while exponent < 0 and significand % 10 == 0:
            significand //= 10
            exponent += 1
    if exponent == 0:
        return float(significand)
    size = abs(exponent)
    number = (significand, 0)
    if size > 307:
        if size >= 342:
            return 0.0 if exponent < 0 else float("inf")
        scale = power_of_ten(size - 308)
        if exponent < 0:
            return to_double(divide(number, scale)) / 1e308
        return to_double(multiply(number, scale)) * 1e308
    if size < 28:
        # The power of ten is exact: one rounding to 64 bits, one to 53.  Both at once is the same unless the 64-bit form lies
        # (nearly) half-way between two doubles.
        power = 10**size
        if exponent < 0:
            exact = (significand << (65 - significand.bit_length() + power.bit_length())) // power
            result = significand / power
        else:
            exact = significand * power
            result = float(exact)
        drop = exact.bit_length() - 53
        if drop <= 11 and exponent > 0:
            return result
        distance = (exact & ((1 << drop) - 1)) - (1 << (drop - 1))
        if abs(distance) >> (drop - 9):
            return result
    scale = power_of_ten(size)
    return to_double(divide(number, scale) if exponent < 0 else multiply(number, scale))


# --- writing -----------------------------------------------------------------------------------------------------------------


def real_to_text(value: float) -> str:
    """A real as text: 15 significant digits, always with a decimal point (the form ``%!.15g``)."""
    text = repr(value)
    if len(text) < 17 and "e" not in text and "n" not in text:
        # At most 15 digits: the shortest form is the 15-digit form.
        return text if value else "0.0"
    if value - value != 0.0:
        if value != value:
            return "NaN"
        return "Inf" if value > 0 else "-Inf"
    sign = ""
    if value < 0:
        sign = "-"
        text = text[1:]
        value = -value
    digits, exponent = _digits_of_repr(text)
    if value < 2.3e-308:
        # Subnormal: the shortest form has fewer digits than the exact value.
        digits, exponent = fifteen_digits(value)
    elif len(digits) > 15:
        tail = int(digits[15:17].ljust(2, "0"))
        if 34 < tail < 66:
            digits, exponent = fifteen_digits(value)
        elif tail < 50:
            digits = digits[:15]
        else:
            digits = str(int(digits[:15]) + 1)
            if len(digits) > 15:
                exponent += 1
    return sign + layout_general(digits, exponent, 15)


def _digits_of_repr(text: str) -> tuple[str, int]:
    """The significant digits of Python's shortest form of a positive real and the exponent of the first."""
    mantissa, _, power = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    exponent = len(whole) - 1 + (int(power) if power else 0)
    if digits[0] == "0":
        size = len(digits)
        digits = digits.lstrip("0")
        exponent -= size - len(digits)
    return digits, exponent


def fifteen_digits(value: float) -> tuple[str, int]:
    """The 15 significant digits and the decimal exponent of a positive finite real, next to a tie by the 80-bit procedure."""
    text = f"{value:.18e}"
    tail = int(text[16:20])
    # The model's error is a few units here; beyond 1e100 (a power that no double holds exactly) some hundreds.
    near = 100 if value < 1e100 else 1500
    if -near < tail - 5000 < near:
        return significant_digits(value, 15)
    if tail < 5000:
        return text[0] + text[2:16], int(text[21:])
    text = f"{value:.14e}"
    return text[0] + text[2:16], int(text[17:])


def layout_general(digits: str, exponent: int, precision: int) -> str:
    """Digits and exponent in ``%!.Ng`` form: exponent form outside 1e-4 .. 10**N, zeros dropped, a point always there."""
    if exponent < -4 or exponent >= precision:
        digits = digits.rstrip("0") or "0"
        sign = "-" if exponent < 0 else "+"
        return f"{digits[0]}.{digits[1:] or '0'}e{sign}{abs(exponent):02d}"
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + (digits.rstrip("0") or "0")
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    return whole + "." + (digits[exponent + 1 :].rstrip("0") or "0")


def format_real_20(value: float) -> str:
    """The form ``%!.20g`` (JSON and quote output modes, ``.dump``)."""
    return _twenty(value, False)


def format_real_20e(value: float) -> str:
    """The form ``%!.20e`` (the SQL function quote() for reals that 15 digits do not carry)."""
    return _twenty(value, True)


def _twenty(value: float, exponential: bool) -> str:
    if value - value != 0.0:
        return "NaN" if value != value else "Inf" if value > 0 else "-Inf"
    sign = "-" if value < 0 else ""
    if value == 0.0:
        return "0.0e+00" if exponential else "0.0"
    digits, exponent = significant_digits(abs(value), 21 if exponential else 20)
    if exponential:
        return f"{sign}{digits[0]}.{digits[1:].rstrip('0') or '0'}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    return sign + layout_general(digits, exponent, 20)


_TEN = (10, 0)
_TENTH = divide((1, 0), _TEN)
_EIGHT = power_of_ten(8)
_E10 = power_of_ten(10)
_E100 = from_double(1e100)
_LIMITS = ((_E100, 100), (_E10, 10), (_TEN, 1))


def normalise(number: tuple[int, int]) -> tuple[tuple[int, int], int]:
    """Scale a positive number into [1,10); the second result is the decimal exponent.  An exponent above 350 means infinity."""
    exponent = 0
    scale = (1, 0)
    for step, width in _LIMITS:
        while exponent <= 350:
            further = multiply(step, scale)
            if less(number, further):
                break
            scale = further
            exponent += width
    number = divide(number, scale)
    while less(number, _1E_8):
        number = multiply(number, _EIGHT)
        exponent -= 8
    while less(number, (1, 0)):
        number = multiply(number, _TEN)
        exponent -= 1
    return number, exponent


_1E_8 = from_double(1e-8)


def half_unit(places: int) -> tuple[int, int]:
    """0.5 * 10**-places, by repeated products as in the original computation."""
    found = _half_units.get(places)
    if found is None:
        value = 0.5
        for _ in range(places):
            value *= 0.1
        found = _half_units[places] = from_double(value)
    return found


_half_units: dict[int, tuple[int, int]] = {}


def significant_digits(value: float, count: int, real_digits: int = 26) -> tuple[str, int]:
    """``count`` digits and the exponent of a positive finite real, by the 80-bit procedure."""
    number, exponent = normalise(from_double(value))
    number = add(number, half_unit(count - 1))
    if not less(number, _TEN):
        number = multiply(number, _TENTH)
        exponent += 1
    return extract_digits(number, count, real_digits), exponent


def extract_digits(number: tuple[int, int], count: int, real_digits: int) -> str:
    """Decimal digits of a number in [0,10): truncate, subtract, multiply by ten, rounding each product; zeros after the real ones."""
    mantissa, exponent = number
    wanted = min(count, real_digits)
    digits = ""
    # Products round to 64 bits only while more than 60 bits stand behind the point: the first step or two.
    while exponent < -60 and wanted:
        digit = mantissa >> -exponent
        mantissa -= digit << -exponent
        digits += str(digit)
        wanted -= 1
        mantissa, exponent = rounded(mantissa * 10, exponent)
    if wanted:
        scaled = mantissa * 10 ** (wanted - 1)
        scaled = scaled >> -exponent if exponent < 0 else scaled << exponent
        digits += str(scaled).rjust(wanted, "0")
    return digits + "0" * (count - real_digits)
