"""Python objects to SQL values and back: adapters and converters, as the standard module has them.

Adapters turn an object that is none of the five SQL types into one that is; converters turn the stored bytes of a column back, chosen by
the column's declared type (PARSE_DECLTYPES) or by ``[type]`` in its name (PARSE_COLNAMES).
"""
from __future__ import annotations

import datetime

from sqlvec.dbapi.exceptions import ProgrammingError
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

PARSE_DECLTYPES = 1
PARSE_COLNAMES = 2


class PrepareProtocol:
    """The protocol object that ``__conform__`` methods are asked for."""


PrepareProtocol.__module__ = "sqlvec"
adapters: dict[tuple[type, Any], Callable[[Any], Any]] = {}
converters: dict[str, Callable[[bytes], Any]] = {}


base_types = {"adapted": False}
"""Was an adapter registered for one of the types that are bound as they are otherwise?  (The standard module forgets it never either.)"""


def register_adapter(kind: type, adapter: Callable[[Any], Any], /) -> None:
    """Use ``adapter`` for values whose type is exactly ``kind``."""
    if kind in (int, float, str, bytearray):
        base_types["adapted"] = True
    adapters[(kind, PrepareProtocol)] = adapter


def register_converter(name: str, converter: Callable[[bytes], Any], /) -> None:
    """Use ``converter`` for columns of declared type ``name`` (case-insensitive)."""
    if not isinstance(name, str):
        raise TypeError(f"register_converter() argument 1 must be str, not {type(name).__name__}")
    converters[name.upper()] = converter


def adapt(value: Any, protocol: Any = PrepareProtocol, /, *default: Any) -> Any:
    """Apply the adapter of a value, or ``__adapt__`` of the protocol, or ``__conform__`` of the value; without any of them return ``default``
    or raise ProgrammingError("can't adapt").  A TypeError out of the methods counts as no answer."""
    adapter = adapters.get((type(value), protocol))
    if adapter is not None:
        return adapter(value)
    for owner, name, argument in ((protocol, "__adapt__", value), (value, "__conform__", protocol)):
        method = getattr(owner, name, None)
        if method is None:
            continue
        try:
            adapted = method(argument)
        except TypeError:
            continue
        if adapted is not None:
            return adapted
    if default:
        return default[0]
    raise ProgrammingError("can't adapt")


def to_sql(value: Any, position: int) -> Any:
    """The SQL value of one parameter.  Errors: OverflowError beyond 64 bits, ProgrammingError for unsupported types, UnicodeEncodeError."""
    kind = type(value)
    if base_types["adapted"] and kind in (int, float, str, bytearray):
        value = adapt(value, PrepareProtocol, value)
        kind = type(value)
    if kind is str:
        if not value.isascii():
            value.encode()
        return value
    if kind is int:
        if -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
            return value
        raise OverflowError("Python int too large to convert to SQLite INTEGER")
    if value is None:
        return value
    if kind is float:
        return value if value == value else None
    if kind is not bytearray:
        value = adapt(value, PrepareProtocol, value)
    return _plain(value, position)


def _plain(value: Any, position: int) -> Any:
    """An adapted value as one of the five value types."""
    if value is None or type(value) is bytes:
        return value
    if isinstance(value, int):
        if -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
            return int(value)
        raise OverflowError("Python int too large to convert to SQLite INTEGER")
    if isinstance(value, float):
        return float(value) if value == value else None
    if isinstance(value, str):
        value.encode()
        return str.__str__(value)
    try:
        view = memoryview(value)
    except TypeError:
        raise ProgrammingError(f"Error binding parameter {position}: type '{_name(type(value))}' is not supported") from None
    if not view.c_contiguous:
        raise BufferError("memoryview: underlying buffer is not C-contiguous")
    return view.tobytes()


def _name(kind: type) -> str:
    """The name of a type as C code knows it: with the module for types that are written in C and have one."""
    is_heap_type = kind.__flags__ & 1 << 9
    return kind.__name__ if is_heap_type or kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _adapt_date(value: Any) -> str:
    return str(value.isoformat())


def _adapt_datetime(value: Any) -> str:
    return str(value.isoformat(" "))


def _convert_date(value: bytes) -> Any:
    return datetime.date(*map(int, value.split(b"-")))


def _convert_timestamp(value: bytes) -> Any:
    day, clock = value.split(b" ")
    year, month, date = map(int, day.split(b"-"))
    whole, _, fraction = clock.partition(b".")
    hours, minutes, seconds = map(int, whole.split(b":"))
    microseconds = int(f"{fraction.decode():0<6.6}") if fraction else 0
    return datetime.datetime(year, month, date, hours, minutes, seconds, microseconds)


register_adapter(datetime.date, _adapt_date)
register_adapter(datetime.datetime, _adapt_datetime)
register_converter("date", _convert_date)
register_converter("timestamp", _convert_timestamp)


def converter_for(declared: str | None, name: str, detect_types: int) -> Callable[[bytes], Any] | None:
    """The converter of one result column, or None."""
    if detect_types & PARSE_COLNAMES:
        start = name.find("[")
        end = name.find("]", start)
        if 0 <= start < end:
            found = converters.get(name[start + 1:end].upper())
            if found is not None:
                return found
    if detect_types & PARSE_DECLTYPES and declared:
        word = declared.replace("(", " ").split(" ")[0]
        return converters.get(word.upper())
    return None


def to_bytes(value: Any) -> bytes:
    """What a converter is given: the value as SQLite's text bytes."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    text = resolve("sqlvec.values.numeric_text:real_to_text")(value) if isinstance(value, float) else str(value)
    return str(text).encode()
