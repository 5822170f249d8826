"""Text functions: length, substr, replace, trim, quote ...

Arguments that are not text act as their text form; blobs as their bytes.  ``length``, ``substr``, ``quote`` and ``unicode`` stop at
the first NUL, the others see all bytes.  Text that may hold invalid UTF-8 takes a second road by SQLite's own character count
(values/text.py); it is taken only once such text was seen.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.functions.core import MAX_LENGTH, int32
from sqlvec.values import text as text_module
from sqlvec.values.numeric_text import format_real_20e, real_prefix, real_to_text
from sqlvec.values.storage import cast_to_blob, cast_to_integer, cast_to_text
from sqlvec.values.text import canonical, characters, code_point, decode, encode, from_code_point, is_valid, until_nul

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.values.storage import Value


def length(value: Value) -> int | None:
    kind = type(value)
    if kind is str:
        return text_module.length(value)  # type: ignore[arg-type]
    if kind is bytes:
        return len(value)  # type: ignore[arg-type]
    if value is None:
        return None
    return text_module.length(cast_to_text(value))  # type: ignore[arg-type]


def lower(value: Value) -> str | None:
    if value is None:
        return None
    return text_module.lower(cast_to_text(value))  # type: ignore[arg-type]


def upper(value: Value) -> str | None:
    if value is None:
        return None
    return text_module.upper(cast_to_text(value))  # type: ignore[arg-type]


def substr(value: Value, start: Value, count: Value = MAX_LENGTH) -> str | bytes | None:
    """Characters from a 1-based position; negative positions count from the end, negative counts take what precedes."""
    if value is None or start is None or count is None:
        return None
    if type(value) is str and type(start) is int and type(count) is int and 0 < start < 1000000 and 0 <= count <= MAX_LENGTH:
        # The commonest call, without the corrections below.
        if not text_module.invalid_text_seen and "\0" not in value:
            return value[start - 1 : start - 1 + count]
    position = int32(start)
    wanted = int32(count)
    if type(value) is bytes:
        if not value:
            return None
        begin, end = _window(len(value), position, wanted)
        return value[begin:end]
    text = until_nul(cast_to_text(value))  # type: ignore[arg-type]
    if is_valid(text):
        begin, end = _window(len(text), position, wanted)
        return text[begin:end]
    pieces = characters(text)
    begin, end = _window(len(pieces), position, wanted)
    return decode(b"".join(pieces[begin:end]))


def _window(size: int, position: int, wanted: int) -> tuple[int, int]:
    """The half-open range of substr() over ``size`` units."""
    backwards = wanted < 0
    wanted = abs(wanted)
    if position < 0:
        position += size
        if position < 0:
            wanted = max(wanted + position, 0)
            position = 0
    elif position > 0:
        position -= 1
    elif wanted > 0:
        wanted -= 1
    if backwards:
        position -= wanted
        if position < 0:
            wanted = max(wanted + position, 0)
            position = 0
    return position, position + wanted


def instr(haystack: Value, needle: Value) -> int | None:
    """1-based position of the first occurrence: bytes when both are blobs, else characters."""
    if haystack is None or needle is None:
        return None
    if type(haystack) is bytes and type(needle) is bytes:
        return haystack.find(needle) + 1
    text = cast_to_text(haystack)
    pattern = cast_to_text(needle)
    if not text_module.invalid_text_seen:
        return text.find(pattern) + 1  # type: ignore[union-attr,arg-type]
    pieces = characters(text)  # type: ignore[arg-type]
    wanted = encode(pattern)  # type: ignore[arg-type]
    data = b"".join(pieces)
    offset = 0
    for number, piece in enumerate(pieces):
        if data.startswith(wanted, offset):
            return number + 1
        offset += len(piece)
    return len(pieces) + 1 if not wanted else 0


def replace(value: Value, pattern: Value, replacement: Value) -> Value:
    if value is None or pattern is None:
        return None
    old = cast_to_text(pattern)
    if not old or old[0] == "\0":
        return cast_to_text(value) if type(value) is bytes else value
    if replacement is None:
        return None
    text = cast_to_text(value)
    new = cast_to_text(replacement)
    if len(new) > len(old) and len(text) + (len(new) - len(old)) * text.count(old) > MAX_LENGTH:  # type: ignore[arg-type,union-attr]
        raise errors.string_or_blob_too_big()
    if not text_module.invalid_text_seen:
        return text.replace(old, new)  # type: ignore[union-attr,arg-type]
    return decode(encode(text).replace(encode(old), encode(new)))  # type: ignore[arg-type]


def _trimmed(value: Value, characters_argument: Value, left: bool, right: bool) -> str | None:
    if value is None or characters_argument is None:
        return None
    text: str = cast_to_text(value)  # type: ignore[assignment]
    wanted: str = until_nul(cast_to_text(characters_argument))  # type: ignore[arg-type]
    if text_module.invalid_text_seen and not (is_valid(text) and is_valid(wanted)):
        return _trim_bytes(text, wanted, left, right)
    if not wanted:
        return text
    if left:
        text = text.lstrip(wanted)
    return text.rstrip(wanted) if right else text


def _trim_bytes(text: str, wanted: str, left: bool, right: bool) -> str:
    """Trim where characters are whatever bytes SQLite takes for one."""
    data = encode(text)
    pieces = [piece for piece in characters(wanted) if piece]
    changed = left
    while changed:
        changed = False
        for piece in pieces:
            if data.startswith(piece):
                data = data[len(piece) :]
                changed = True
                break
    changed = right
    while changed:
        changed = False
        for piece in pieces:
            if data.endswith(piece):
                data = data[: -len(piece)]
                changed = True
                break
    return decode(data)


def trim(value: Value, wanted: Value = " ") -> str | None:
    if type(value) is str and wanted == " ":
        return value.strip(" ")
    return _trimmed(value, wanted, True, True)


def ltrim(value: Value, wanted: Value = " ") -> str | None:
    return _trimmed(value, wanted, True, False)


def rtrim(value: Value, wanted: Value = " ") -> str | None:
    return _trimmed(value, wanted, False, True)


def hexadecimal(value: Value) -> str:
    data = cast_to_blob(value) or b""
    if len(data) * 2 + 1 > MAX_LENGTH:
        raise errors.string_or_blob_too_big()
    return data.hex().upper()


def unicode_point(value: Value) -> int | None:
    """Code point of the first character; NULL for empty text."""
    if value is None:
        return None
    text: str = cast_to_text(value)  # type: ignore[assignment]
    if not text or text[0] == "\0":
        return None
    if not text_module.invalid_text_seen:
        point = ord(text[0])
        return 0xFFFD if point & 0xFFFFFFFE == 0xFFFE else point
    return code_point(characters(text[:8])[0])


def char(*points: Value) -> str:
    """Text of code points; values outside Unicode become U+FFFD."""
    pieces = []
    for value in points:
        point = cast_to_integer(value) or 0
        pieces.append(from_code_point(point if 0 <= point <= 0x10FFFF else 0xFFFD))
    return canonical("".join(pieces))


def quote(value: Value) -> str:
    """The SQL literal of a value."""
    kind = type(value)
    if kind is str or isinstance(value, str):
        return "'" + until_nul(value).replace("'", "''") + "'"  # type: ignore[arg-type]
    if kind is int:
        return str(value)
    if value is None:
        return "NULL"
    if kind is bytes:
        if len(value) * 2 + 4 > MAX_LENGTH:  # type: ignore[arg-type]
            raise errors.string_or_blob_too_big()
        return f"X'{value.hex().upper()}'"  # type: ignore[union-attr]
    short = real_to_text(value)  # type: ignore[arg-type]
    return short if real_prefix(short) == value else format_real_20e(value)  # type: ignore[arg-type]


_SOUNDEX = bytearray(b"0" * 128)
for _digit, _letters in ((b"1", b"BFPV"), (b"2", b"CGJKQSXZ"), (b"3", b"DT"), (b"4", b"L"), (b"5", b"MN"), (b"6", b"R")):
    for _letter in _letters:
        _SOUNDEX[_letter] = _SOUNDEX[_letter + 32] = _digit[0]


def soundex(value: Value) -> str:
    """First letter and three digits; '?000' when there is no letter.  Bytes beyond ASCII count by their low seven bits."""
    data = encode(until_nul(cast_to_text(value) or ""))
    position = next((at for at, byte in enumerate(data) if byte < 128 and 65 <= byte & ~32 <= 90), -1)
    if position < 0:
        return "?000"
    first = data[position]
    code = chr(first & ~32)
    previous = _SOUNDEX[first]
    for letter in data[position + 1 :]:
        digit = _SOUNDEX[letter & 127]
        if digit != 48 and digit != previous:
            code += chr(digit)
            if len(code) == 4:
                return code
        previous = digit
    return code.ljust(4, "0")
