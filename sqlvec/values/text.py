"""Text: the only place where bytes become SQL text and back.

SQLite text is bytes that need not be valid UTF-8.  Here it is a Python ``str``: valid bytes decode strictly, invalid bytes
become the lone surrogates of the ``surrogateescape`` error handler, so that every byte string has exactly one ``str``.

Invariants
1. Equal text has equal ``str`` and the reverse: a text value is always *canonical*, ``decode(encode(s)) == s``.  Joining two
   pieces can break this (``x'c3' || x'a9'`` must be the text é), so functions that join or cut call :func:`canonical`, which
   costs one global test while no invalid text was ever seen.
2. ``invalid_text_seen`` is false as long as no lone surrogate exists in any value of the process.  While it is false, code
   point order is the order of the UTF-8 bytes, ``len`` counts SQLite's characters and joining is safe.
3. A UTF-16 surrogate at the end of a text becomes the three bytes that SQLite stores for them (``ed a0 80``), each byte escaped.

Other rooms decode with ``data.decode()`` on their hot path and call :func:`decode` when that raises.
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

UTF8 = 1
UTF16LE = 2
UTF16BE = 3

CODEC_OF_ENCODING = {UTF8: "utf-8", UTF16LE: "utf-16-le", UTF16BE: "utf-16-be"}

invalid_text_seen = False

_ASCII_LOWER = {code: code + 32 for code in range(65, 91)}
_ASCII_UPPER = {code: code - 32 for code in range(97, 123)}


class JsonText(str):
    """Text with the JSON subtype: exists only between directly nested calls of one expression, and in columns of virtual tables."""

    __slots__ = ()


def decode(data: bytes, encoding: int = UTF8) -> str:
    """Return the text stored as ``data`` in the given database encoding."""
    global invalid_text_seen
    if encoding == UTF8:
        try:
            return str(data, "utf-8")
        except UnicodeDecodeError:
            invalid_text_seen = True
            return str(data, "utf-8", "surrogateescape")
    codec = CODEC_OF_ENCODING[encoding]
    if len(data) & 1:
        data = data[:-1]
    try:
        return str(data, codec)
    except UnicodeDecodeError:
        invalid_text_seen = True
        return str(_ill_formed_utf16(data, codec).encode("utf-8", "surrogatepass"), "utf-8", "surrogateescape")


def _ill_formed_utf16(data: bytes, codec: str) -> str:
    """SQLite takes any surrogate together with whatever unit follows it; only the last unit of a text may be alone."""
    order: Literal["little", "big"] = "little" if codec == "utf-16-le" else "big"
    units = iter([int.from_bytes(data[at : at + 2], order) for at in range(0, len(data), 2)])
    pieces = []
    for unit in units:
        if 0xD800 <= unit <= 0xDFFF:
            low = next(units, None)
            if low is not None:
                unit = ((unit & 0x3F) << 10) + (((unit & 0x3C0) + 0x40) << 10) + (low & 0x3FF)
        pieces.append(chr(unit))
    return "".join(pieces)


def encode(text: str, encoding: int = UTF8) -> bytes:
    """Return the bytes that a database of the given encoding stores for ``text``."""
    if encoding == UTF8:
        try:
            return text.encode()
        except UnicodeEncodeError:
            return _encode_escaped(text)
    codec = CODEC_OF_ENCODING[encoding]
    try:
        return text.encode(codec)
    except UnicodeEncodeError:
        return readable(text).encode(codec)


def _encode_escaped(text: str) -> bytes:
    """UTF-8 bytes of a text with escaped bytes; a surrogate that is no escape becomes its own three bytes."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return b"".join(
            bytes((ord(c) - 0xDC00,)) if 0xDC80 <= ord(c) <= 0xDCFF else c.encode("utf-8", "surrogatepass") for c in text
        )


def canonical(text: str) -> str:
    """Re-establish invariant 1 after pieces of text were joined or cut."""
    if not invalid_text_seen or text.isascii():
        return text
    return str(encode(text), "utf-8", "surrogateescape")


def is_valid(text: str) -> bool:
    """True when the text holds no escaped byte."""
    if not invalid_text_seen or text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def from_code_point(code: int) -> str:
    """The text of one code point as SQLite writes it: surrogates as three (invalid) bytes."""
    global invalid_text_seen
    if 0xD800 <= code <= 0xDFFF:
        invalid_text_seen = True
        return str(chr(code).encode("utf-8", "surrogatepass"), "utf-8", "surrogateescape")
    return chr(code)


def adopt(text: str) -> str:
    """Take a ``str`` from outside (a bound parameter, the result of a user function) as a value."""
    global invalid_text_seen
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        invalid_text_seen = True
        return str(encode(text), "utf-8", "surrogateescape")
    return text


def until_nul(text: str) -> str:
    """The part of the text that C string functions see."""
    end = text.find("\0")
    return text if end < 0 else text[:end]


def characters(text: str) -> list[bytes]:
    """Cut text into what SQLite counts as characters: a lead byte takes all continuation bytes that follow it."""
    data = encode(text)
    pieces = []
    position = 0
    size = len(data)
    while position < size:
        end = position + 1
        if data[position] >= 0xC0:
            while end < size and data[end] & 0xC0 == 0x80:
                end += 1
        pieces.append(data[position:end])
        position = end
    return pieces


def code_point(piece: bytes) -> int:
    """The code point that SQLite reads from one piece of :func:`characters`; most malformed ones are U+FFFD."""
    lead = piece[0]
    if lead < 0xC0:
        return lead
    if lead < 0xE0:
        code = lead & 0x1F
    elif lead < 0xF0:
        code = lead & 0x0F
    elif lead < 0xF8:
        code = lead & 0x07
    elif lead < 0xFC:
        code = lead & 0x03
    elif lead < 0xFE:
        code = lead & 0x01
    else:
        code = 0
    for byte in piece[1:]:
        code = ((code << 6) + (byte & 0x3F)) & 0xFFFFFFFF
    if code < 0x80 or code & 0xFFFFF800 == 0xD800 or code & 0xFFFFFFFE == 0xFFFE:
        return 0xFFFD
    return code


def readable(text: str) -> str:
    """Text as SQLite reads it character by character: malformed pieces as the code points that come out of them."""
    if not invalid_text_seen or is_valid(text):
        return text
    points = map(code_point, characters(text))
    return "".join(chr(point) if point <= 0x10FFFF else "\ufffd" for point in points)


def length(text: str) -> int:
    """Number of characters up to the first NUL."""
    if "\0" in text:
        text = text[: text.index("\0")]
    if not invalid_text_seen or is_valid(text):
        return len(text)
    return len(characters(text))


def lower(text: str) -> str:
    """Fold A-Z only."""
    return text.lower() if text.isascii() else text.translate(_ASCII_LOWER)


def upper(text: str) -> str:
    """Fold a-z only."""
    return text.upper() if text.isascii() else text.translate(_ASCII_UPPER)
