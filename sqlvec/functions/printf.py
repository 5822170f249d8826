"""printf(), alias format(): SQLite's own conversions, flags and oddities.

A format is parsed once into a list of literal texts and :class:`Conversion`; formats in use are kept in a cache.  Widths and
precisions of strings count bytes, with the ``!`` flag characters.  Arguments convert as function arguments do: text becomes a number
by its prefix, missing arguments are 0, 0.0 or the empty string.  An unknown conversion ends the output there.
Manual: "printf()".
"""
from __future__ import annotations

from sqlvec.functions.core import MAX_LENGTH
from sqlvec.functions.fixed import fixed, fixed_digits, place_point
from sqlvec.values.extended import add, from_double, less, multiply
from sqlvec.values.numeric_text import _TEN, _TENTH, extract_digits, half_unit, normalise
from sqlvec.values.storage import cast_to_integer, cast_to_real, cast_to_text
from sqlvec.values.text import canonical, characters, decode, encode, is_valid, until_nul

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlvec.values.storage import Value

_PRECISION_LIMIT = 100000000
_CACHE_SIZE = 64
_FLAGS = {"-": "left", "+": "plus", " ": "space", "0": "zero", "#": "alternate", "!": "bang", ",": "comma"}


class _TooLong(Exception):
    """The result would pass the length limit: printf() then answers NULL."""


class Conversion:
    """One ``%`` specification; width and precision are numbers, None, or '*' (taken from the arguments)."""

    __slots__ = ("alternate", "bang", "comma", "kind", "left", "plus", "precision", "space", "width", "zero")

    def __init__(self) -> None:
        self.alternate = self.bang = self.comma = self.left = self.plus = self.space = self.zero = False
        self.width: int | str | None = 0
        self.precision: int | str | None = None
        self.kind = ""


class Arguments:
    """The arguments of one call, consumed left to right."""

    __slots__ = ("position", "values")

    def __init__(self, values: tuple[Value, ...]) -> None:
        self.values = values
        self.position = 0

    def next(self) -> Value:
        position = self.position
        self.position = position + 1
        return self.values[position] if position < len(self.values) else None

    def integer(self) -> int:
        return cast_to_integer(self.next()) or 0

    def int32(self) -> int:
        number = self.integer() & 0xFFFFFFFF
        return number - 0x100000000 if number >> 31 else number


_formats: dict[str, list[Any]] = {}


def printf(*arguments: Value) -> str | None:
    if not arguments or arguments[0] is None:
        return None
    template = until_nul(cast_to_text(arguments[0]))  # type: ignore[arg-type]
    parts = _formats.get(template)
    if parts is None:
        parts = parse_format(template)
        if len(_formats) >= _CACHE_SIZE:
            _formats.clear()
        _formats[template] = parts
    if not parts:
        return None
    rest = Arguments(arguments[1:])
    pieces = []
    size = 0
    for part in parts:
        try:
            piece = part if type(part) is str else _convert(part, rest)
        except _TooLong:
            return None
        size += len(piece)
        if size >= MAX_LENGTH:
            return None
        pieces.append(piece)
    return canonical("".join(pieces))


def parse_format(template: str) -> list[Any]:
    """Literal texts and conversions of a format, up to the first unknown conversion."""
    parts: list[Any] = []
    position = 0
    size = len(template)
    while position < size:
        start = template.find("%", position)
        if start < 0:
            parts.append(template[position:])
            break
        if start > position:
            parts.append(template[position:start])
        position = start + 1
        if position >= size:
            parts.append("%")
            break
        conversion, position = _parse_conversion(template, position)
        if conversion is None:
            break
        parts.append(conversion)
    return parts


def _parse_number(template: str, position: int) -> tuple[int | str, int]:
    """Digits (wrapping like a C unsigned, 31 bits kept) or '*'."""
    if position < len(template) and template[position] == "*":
        return "*", position + 1
    number = 0
    while position < len(template) and "0" <= template[position] <= "9":
        number = (number * 10 + ord(template[position]) - 48) & 0xFFFFFFFF
        position += 1
    return number & 0x7FFFFFFF, position


def _parse_conversion(template: str, position: int) -> tuple[Conversion | None, int]:
    conversion = Conversion()
    size = len(template)
    while position < size and template[position] in _FLAGS:
        flag = _FLAGS[template[position]]
        setattr(conversion, flag, True)
        # The later of + and space counts.
        if flag == "plus":
            conversion.space = False
        elif flag == "space":
            conversion.plus = False
        position += 1
    conversion.width, position = _parse_number(template, position)
    if position < size and template[position] == ".":
        conversion.precision, position = _parse_number(template, position + 1)
    if position < size and template[position] == "l":
        position += 1
        if position < size and template[position] == "l":
            position += 1
    if position >= size or template[position] not in _KINDS:
        return None, position
    conversion.kind = template[position]
    return conversion, position + 1


def _convert(conversion: Conversion, arguments: Arguments) -> str:
    width: int = conversion.width  # type: ignore[assignment]
    left = conversion.left
    if conversion.width == "*":
        width = arguments.int32()
        if width < 0:
            left = True
            width = -width if width >= -2147483647 else 0
    precision = conversion.precision
    if precision == "*":
        given = arguments.int32()
        precision = given if given >= 0 else (-given if given >= -2147483647 else None)
    if width > MAX_LENGTH or (precision or 0) > MAX_LENGTH * 2:  # type: ignore[operator]
        raise _TooLong
    text = _KINDS[conversion.kind](conversion, arguments, width, precision, left)
    if conversion.kind == "n":
        return text
    length = len(text)
    if conversion.kind in "szqQwc" and not text.isascii():
        if not conversion.bang and conversion.kind != "c":
            length = len(encode(text))
        elif not is_valid(text):
            length = sum(byte & 0xC0 != 0x80 for byte in encode(text))
    if length >= width:
        return text
    return text + " " * (width - length) if left else " " * (width - length) + text


# --- integers --------------------------------------------------------------------------------------------------------------------


def _sign(conversion: Conversion, is_negative: bool) -> str:
    if is_negative:
        return "-"
    return "+" if conversion.plus else " " if conversion.space else ""


def _with_zeros(conversion: Conversion, digits: str, sign: str, width: int, precision: int | None) -> str:
    """Zeros up to the precision, or up to the width with the 0 flag; then commas."""
    least = 0 if precision is None else precision
    if conversion.zero and least < width - len(sign):
        least = width - len(sign)
    if least > MAX_LENGTH:
        raise _TooLong
    return digits.rjust(least, "0")


def _signed(conversion: Conversion, arguments: Arguments, width: int, precision: Any, _left: bool) -> str:
    number = arguments.integer()
    sign = _sign(conversion, number < 0)
    digits = str(abs(number))
    if conversion.kind == "r":
        digits += _ordinal(abs(number))
    digits = _with_zeros(conversion, digits, sign, width, precision)
    if conversion.comma and conversion.kind != "r":
        digits = _group(digits)
    return sign + digits


def _ordinal(number: int) -> str:
    last = number % 10
    if last > 3 or number // 10 % 10 == 1:
        last = 0
    return ("th", "st", "nd", "rd")[last]


def _group(digits: str) -> str:
    """Commas between groups of three digits."""
    head = len(digits) % 3
    groups = [digits[:head]] if head else []
    groups.extend(digits[i : i + 3] for i in range(head, len(digits), 3))
    return ",".join(groups)


def _unsigned(conversion: Conversion, arguments: Arguments, width: int, precision: Any, _left: bool) -> str:
    number = arguments.integer() & 0xFFFFFFFFFFFFFFFF
    digits = _with_zeros(conversion, str(number), "", width, precision)
    return _group(digits) if conversion.comma else digits


def _radix(conversion: Conversion, arguments: Arguments, width: int, precision: Any, _left: bool) -> str:
    number = arguments.integer() & 0xFFFFFFFFFFFFFFFF
    kind = conversion.kind
    digits = f"{number:o}" if kind == "o" else f"{number:x}" if kind == "x" else f"{number:X}"
    digits = _with_zeros(conversion, digits, "", width, precision)
    if conversion.alternate and number:
        digits = {"o": "0", "x": "0x", "X": "0X", "p": "0x"}[kind] + digits
    return digits


# --- reals -----------------------------------------------------------------------------------------------------------------------


def _real(conversion: Conversion, arguments: Arguments, width: int, precision: Any, left: bool) -> str:
    value: float = cast_to_real(arguments.next()) or 0.0
    kind = conversion.kind
    precision = 6 if precision is None else min(precision, _PRECISION_LIMIT)
    sign = _sign(conversion, value < 0)
    value = abs(value)
    if value - value != 0.0:
        return "NaN" if value != value else sign + "Inf"
    real_digits = 26 if conversion.bang else 16
    drop_zeros = conversion.bang
    digits, exponent = "", 0
    places = precision
    is_exponential = False
    if kind == "f" and not conversion.bang:
        body = fixed(value, precision)
    elif kind == "f":
        digits, exponent = fixed_digits(value, precision, real_digits)
        body = place_point(digits, exponent, places)
    else:
        if kind in "gG":
            precision = max(precision, 1) - 1
            drop_zeros = not conversion.alternate
        digits, exponent = _rounded_digits(value, precision, real_digits)
        is_exponential = kind in "eE" or exponent < -4 or exponent > precision
        places = precision if is_exponential else precision - exponent
        body = place_point(digits, 0 if is_exponential else exponent, places)
    if exponent > 350:
        return sign + "Inf"
    has_point = places > 0 or conversion.alternate or conversion.bang
    if has_point and "." not in body:
        body += "."
    if drop_zeros and has_point:
        body = body.rstrip("0")
        if body[-1] == ".":
            body = body + "0" if conversion.bang else body[:-1]
    if is_exponential:
        mark = "E" if kind in "EG" else "e"
        body += f"{mark}{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    if conversion.zero and not left and len(sign) + len(body) < width:
        body = body.rjust(width - len(sign), "0")
    return sign + body


def _rounded_digits(value: float, places: int, real_digits: int) -> tuple[str, int]:
    """Digits of ``%.Ne`` and the exponent."""
    number, exponent = normalise(from_double(value)) if value else ((0, 0), 0)
    number = add(number, half_unit(places))
    if not less(number, _TEN):
        number = multiply(number, _TENTH)
        exponent += 1
    return extract_digits(number, places + 1, real_digits), exponent


# --- text ------------------------------------------------------------------------------------------------------------------------


def _cut(conversion: Conversion, text: str, precision: int | None) -> str:
    """The first ``precision`` bytes, or characters with ``!``."""
    if precision is None or precision >= len(text) * 4:
        return text
    if is_valid(text):
        if conversion.bang or text.isascii():
            return text[:precision]
    elif conversion.bang:
        return decode(b"".join(characters(text)[:precision]))
    return decode(encode(text)[:precision])


def _string(conversion: Conversion, arguments: Arguments, _width: int, precision: Any, _left: bool) -> str:
    value = arguments.next()
    return _cut(conversion, until_nul(cast_to_text(value) or ""), precision)


def _character(conversion: Conversion, arguments: Arguments, width: int, precision: Any, _left: bool) -> str:
    text = until_nul(cast_to_text(arguments.next()) or "")
    text = (text[:1] if is_valid(text) else decode(characters(text)[0])) or "\0"
    times = precision if precision is not None and precision > 1 else 1
    if times * len(text) > MAX_LENGTH:
        raise _TooLong
    return text * times


def _quoted(conversion: Conversion, arguments: Arguments, _width: int, precision: Any, _left: bool) -> str:
    value = arguments.next()
    kind = conversion.kind
    if value is None:
        return _cut(conversion, "NULL" if kind == "Q" else "(NULL)", precision)
    text = _cut(conversion, until_nul(cast_to_text(value)), precision)  # type: ignore[arg-type]
    mark = '"' if kind == "w" else "'"
    text = text.replace(mark, mark + mark)
    return f"'{text}'" if kind == "Q" else text


def _percent(_conversion: Conversion, _arguments: Arguments, _width: int, _precision: Any, _left: bool) -> str:
    return "%"


def _nothing(_conversion: Conversion, _arguments: Arguments, _width: int, _precision: Any, _left: bool) -> str:
    return ""


_KINDS: dict[str, Callable[[Conversion, Arguments, int, Any, bool], str]] = {
    "d": _signed, "i": _signed, "r": _signed, "u": _unsigned, "o": _radix, "x": _radix, "X": _radix, "p": _radix,
    "f": _real, "e": _real, "E": _real, "g": _real, "G": _real,
    "s": _string, "z": _string, "c": _character, "q": _quoted, "Q": _quoted, "w": _quoted,
    "%": _percent, "n": _nothing,
}
