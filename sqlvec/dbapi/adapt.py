"""Python objects to SQL values and back: adapters and converters, as the standard module has them.

Adapters turn an object that is none of the five SQL types into one that is; converters turn the stored bytes of a column back, chosen by
the column's declared type (PARSE_DECLTYPES) or by ``[type]`` in its name (PARSE_COLNAMES).
"""
from __future__ import annotations

import datetime

from sqlvec.dbapi.exceptions import ProgrammingError
from sqlvec.resolve import resolve
from sqlvec.values.text import adopt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

PARSE_DECLTYPES = 1
PARSE_COLNAMES = 2


class PrepareProtocol:
    """The protocol object that ``__conform__`` methods are asked for."""


adapters: dict[tuple[type, Any], Callable[[Any], Any]] = {}
converters: dict[str, Callable[[bytes], Any]] = {}


def register_adapter(kind: type, adapter: Callable[[Any], Any]) -> None:
    """Use ``adapter`` for values whose type is exactly ``kind``."""
    adapters[(kind, PrepareProtocol)] = adapter


def register_converter(name: str, converter: Callable[[bytes], Any]) -> None:
    """Use ``converter`` for columns of declared type ``name`` (case-insensitive)."""
    converters[name.upper()] = converter


def adapt(value: Any, protocol: Any = PrepareProtocol, *default: Any) -> Any:
    """Apply the adapter or ``__conform__`` of a value; without either return ``default`` or raise ProgrammingError("can't adapt")."""
    adapter = adapters.get((type(value), protocol))
    if adapter is not None:
        return adapter(value)
    conform = getattr(value, "__conform__", None)
    if conform is not None:
        adapted = conform(protocol)
        if adapted is not None:
            return adapted
    if default:
        return default[0]
    raise ProgrammingError("can't adapt")


def to_sql(value: Any, position: int | str) -> Any:
    """The SQL value of one parameter.  Errors: OverflowError beyond 64 bits, ProgrammingError for unsupported types."""
    kind = type(value)
    if kind is str:
        return adopt(value)
    if kind is int:
        if -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
            return value
        raise OverflowError("Python int too large to convert to SQLite INTEGER")
    if value is None or kind is bytes:
        return value
    if kind is float:
        return value if value == value else None
    if kind not in (bytearray, memoryview):
        value = adapt(value, PrepareProtocol, value)
    if value is None or type(value) in (str, int, float, bytes):
        return to_sql(value, position) if type(value) is not kind else value
    if isinstance(value, int):
        return to_sql(int(value), position)
    if isinstance(value, float):
        return to_sql(float(value), position)
    if isinstance(value, str):
        return adopt(str(value))
    try:
        return bytes(memoryview(value))
    except TypeError:
        raise ProgrammingError(f"Error binding parameter {position}: type '{type(value).__name__}' is not supported") from None


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
    if detect_types & PARSE_COLNAMES and "[" in name:
        found = converters.get(name[name.index("[") + 1:].split("]", maxsplit=1)[0].upper())
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
