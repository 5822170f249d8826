"""Core functions that are not about text: choice, comparison, random numbers, counters, versions."""
from __future__ import annotations

from sqlvec import errors
from sqlvec.functions.compile_options import OPTIONS, SOURCE_ID, VERSION
from sqlvec.values import storage
from sqlvec.values.compare import compare
from sqlvec.values.numeric_text import MIN_INTEGER, real_prefix
from sqlvec.values.text import JsonText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.functions.registry import FunctionContext
    from sqlvec.values.compare import Collation
    from sqlvec.values.storage import Value

MAX_LENGTH = 1000000000


def absolute(value: Value) -> int | float | None:
    kind = type(value)
    if kind is int:
        if value == MIN_INTEGER:
            raise errors.integer_overflow()
        return abs(value)  # type: ignore[arg-type]
    if value is None:
        return None
    number = value if kind is float else real_prefix(storage.cast_to_text(value))  # type: ignore[arg-type]
    return -number if number < 0 else number  # type: ignore[operator,return-value]


def coalesce(*values: Value) -> Value:
    for value in values:
        if value is not None:
            return value
    return None


def int32(value: Value) -> int:
    """The low 32 bits of an integer argument, signed, as functions with C ``int`` arguments take it."""
    number = storage.cast_to_integer(value) or 0
    if -0x80000000 <= number <= 0x7FFFFFFF:
        return number
    number &= 0xFFFFFFFF
    return number - 0x100000000 if number >> 31 else number


def iif(condition: Value, then: Value, otherwise: Value) -> Value:
    # Truth is decided by the emitter's CASE; this callable serves direct calls.
    from_truth = storage.cast_to_real(condition)
    return then if from_truth else otherwise


def first_argument(value: Value, _probability: Value = None) -> Value:
    """likely(), unlikely(), likelihood(): hints to the planner, no effect on the value."""
    return value


def maximum(collation: Collation, *values: Value) -> Value:
    """The greatest argument, the first of equals; NULL if any is NULL."""
    best = values[0]
    if best is None:
        return None
    for value in values[1:]:
        if value is None:
            return None
        if compare(best, value, collation) < 0:
            best = value
    return best


def minimum(collation: Collation, *values: Value) -> Value:
    """The least argument, the last of equals; NULL if any is NULL."""
    best = values[0]
    if best is None:
        return None
    for value in values[1:]:
        if value is None:
            return None
        if compare(best, value, collation) >= 0:
            best = value
    return best


def nullif(collation: Collation, value: Value, other: Value) -> Value:
    return None if compare(value, other, collation) == 0 else value


def random(context: FunctionContext) -> int:
    number = int.from_bytes(context.random_bytes(8), "little", signed=True)
    # The most negative number is kept out, so that abs(random()) cannot overflow.
    return number if number != MIN_INTEGER else 0


def randomblob(context: FunctionContext, size: Value) -> bytes:
    count = storage.cast_to_integer(size) or 0
    if count > MAX_LENGTH:
        raise errors.string_or_blob_too_big()
    return context.random_bytes(max(count, 1))


def zeroblob(size: Value) -> bytes:
    count = storage.cast_to_integer(size) or 0
    if count > MAX_LENGTH:
        raise errors.string_or_blob_too_big()
    return bytes(max(count, 0))


def typeof(value: Value) -> str:
    return storage.typeof(value)


def subtype(value: Value) -> int:
    return 74 if isinstance(value, JsonText) else 0


def changes(context: FunctionContext) -> int:
    return context.changes()


def total_changes(context: FunctionContext) -> int:
    return context.total_changes()


def last_insert_rowid(context: FunctionContext) -> int:
    return context.last_insert_rowid()


def version() -> str:
    return VERSION


def source_id() -> str:
    return SOURCE_ID


def compileoption_get(number: Value) -> str | None:
    position = int32(number)
    return OPTIONS[position] if 0 <= position < len(OPTIONS) else None


def compileoption_used(name: Value) -> int | None:
    """1 if an option of this name (with or without SQLITE_, with or without its value) is in the list."""
    if name is None:
        return None
    wanted = storage.cast_to_text(name).upper()  # type: ignore[union-attr]
    if wanted.startswith("SQLITE_"):
        wanted = wanted[7:]
    for option in OPTIONS:
        folded = option.upper()
        if folded.startswith(wanted) and (len(folded) == len(wanted) or not (folded[len(wanted)].isalnum() or folded[len(wanted)] == "_")):
            return 1
    return 0


def log_message(_code: Value, _message: Value) -> None:
    """sqlite_log(): there is no error log to write to."""


def load_extension(*_arguments: Value) -> None:
    raise errors.not_authorized()


def match(_pattern: Value, _text: Value) -> None:
    raise errors.unusable_function("MATCH")
