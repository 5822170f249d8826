"""Functions in databases of UTF-16: blobs as text and text as bytes go through the encoding of the database.

In such a database a blob argument that a function reads as text is UTF-16, and ``hex`` shows the UTF-16 bytes of a text.  The
families know UTF-8 only; here their callables are wrapped, so UTF-8 connections pay nothing.
"""
from __future__ import annotations

from sqlvec.values.text import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# All arguments are read as text (or as numbers by way of text).
_READ_TEXT = frozenset(
    (
        "upper", "lower", "trim", "ltrim", "rtrim", "replace", "unicode", "soundex", "printf", "format", "abs", "round", "date", "time",
        "datetime", "julianday", "unixepoch", "strftime", "json", "json_valid", "json_extract", "json_type", "json_array_length",
        "json_remove", "json_patch", "->", "->>", "regexp", "regexpi",
    )
)  # fmt: skip
# Only the first argument is.
_READ_FIRST = frozenset(("json_set", "json_insert", "json_replace"))


def adapted(function: Any, encoding: int) -> Callable[..., Any]:
    """The callable of a scalar function for a connection of this encoding."""
    name = function.name
    call = function.call
    if name in _READ_TEXT:
        return lambda *values: call(*[decode(value, encoding) if type(value) is bytes else value for value in values])
    if name in _READ_FIRST:
        return lambda first, *rest: call(decode(first, encoding) if type(first) is bytes else first, *rest)
    if name == "hex":
        # Numbers become text in UTF-8, as in the original.
        return lambda value: call(encode(value, encoding) if isinstance(value, str) else value)
    if name == "instr":
        return _instr(call, encoding)
    return call  # type: ignore[no-any-return]


def _instr(call: Callable[..., Any], encoding: int) -> Callable[..., Any]:
    def instr(haystack: Any, needle: Any) -> Any:
        if type(haystack) is not type(needle):
            haystack = decode(haystack, encoding) if type(haystack) is bytes else haystack
            needle = decode(needle, encoding) if type(needle) is bytes else needle
        return call(haystack, needle)

    return instr

