"""Storage classes and affinity: what a column does to a value, what a comparison does to its operands, and CAST.

Affinities are one-letter strings in SQLite's order, so that ``affinity >= NUMERIC`` reads "is numeric".  ``None`` as an affinity
means "none at all" (an expression that is neither a column nor a CAST); for storing it acts as BLOB.

Follows the manual's "Datatypes In SQLite".
"""
from __future__ import annotations

from sqlvec.values import text as text_module
from sqlvec.values.affinity import AFFINITY_NAMES, BLOB, INTEGER, NUMERIC, REAL, TEXT, affinity_of_type  # noqa: F401  (for importers of this module)
from sqlvec.values.numeric_text import integer_prefix, number_of_text, number_prefix, real_prefix, real_to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Value = None | int | float | str | bytes

_TWO_63 = 9223372036854775808.0
_TWO_51 = 2251799813685248


def typeof(value: Value) -> str:
    return _TYPE_NAMES.get(type(value)) or "text"


_TYPE_NAMES = {type(None): "null", int: "integer", float: "real", str: "text", bytes: "blob"}


# --- storing -----------------------------------------------------------------------------------------------------------------


def apply_affinity(value: Value, affinity: str | None) -> Value:
    """The value as a column of this affinity stores it."""
    if value is None or affinity is None or affinity == BLOB:
        return value
    if affinity == TEXT:
        return to_text_affinity(value)
    if affinity == REAL:
        return to_real_affinity(value)
    return to_numeric_affinity(value)


def to_blob_affinity(value: Value) -> Value:
    return value


def to_text_affinity(value: Value) -> Value:
    kind = type(value)
    if kind is int:
        return str(value)
    if kind is float:
        return real_to_text(value)  # type: ignore[arg-type]
    return value


def to_numeric_affinity(value: Value) -> Value:
    """Numbers and numeric text become the simplest number; reals that are integers in the 64-bit range become integers."""
    kind = type(value)
    if kind is int or value is None:
        return value
    if kind is float:
        return integer_of_real(value)  # type: ignore[arg-type]
    if kind is bytes:
        return value
    number = number_of_text(value)  # type: ignore[arg-type]
    if number is None:
        return value
    return integer_of_real(number) if type(number) is float else number


to_integer_affinity = to_numeric_affinity


def to_real_affinity(value: Value) -> Value:
    kind = type(value)
    if kind is float:
        # A file keeps integral reals of such a column as integers, so -0.0 comes back as 0.0.
        return value or 0.0
    if value is None:
        return value
    if kind is int:
        return float(value)  # type: ignore[arg-type]
    if kind is bytes:
        return value
    number = number_of_text(value)  # type: ignore[arg-type]
    return value if number is None else float(number) or 0.0


AFFINITY_FUNCTIONS: dict[str, Callable[[Value], Value]] = {
    BLOB: to_blob_affinity,
    TEXT: to_text_affinity,
    NUMERIC: to_numeric_affinity,
    INTEGER: to_integer_affinity,
    REAL: to_real_affinity,
}


def integer_of_real(value: float) -> int | float:
    """An integral real strictly inside the 64-bit range as an integer, any other real unchanged."""
    if -_TWO_63 < value < _TWO_63:
        number = int(value)
        if number == value:
            return number
    return value


# --- comparing ---------------------------------------------------------------------------------------------------------------


def comparison_affinity(left: str | None, right: str | None) -> str | None:
    """The affinity that a comparison applies to both operands; None for "compare as they are"."""
    if left is not None and right is not None:
        # BLOB against BLOB or TEXT, TEXT against TEXT: nothing to convert.
        return NUMERIC if left >= NUMERIC or right >= NUMERIC else None
    affinity = right if left is None else left
    if affinity is None or affinity == BLOB:
        return None
    return NUMERIC if affinity >= NUMERIC else TEXT


def numeric_for_comparison(value: Value) -> Value:
    """Numeric affinity as a comparison applies it: only text that is wholly a number changes."""
    if type(value) is str:
        number = number_of_text(value)
        if number is not None:
            return number
    return value


# --- CAST ----------------------------------------------------------------------------------------------------------------------


def cast(value: Value, affinity: str, encoding: int = text_module.UTF8) -> Value:
    """CAST(value AS a type of this affinity)."""
    if value is None:
        return None
    return _CASTS[affinity](value, encoding)


def cast_to_text(value: Value, encoding: int = text_module.UTF8) -> str | None:
    kind = type(value)
    if kind is str or value is None:
        return value  # type: ignore[return-value]
    if kind is int:
        return str(value)
    if kind is float:
        return real_to_text(value)  # type: ignore[arg-type]
    if kind is bytes:
        return text_module.decode(value, encoding)  # type: ignore[arg-type]
    return value  # type: ignore[return-value]


def cast_to_blob(value: Value, encoding: int = text_module.UTF8) -> bytes | None:
    if value is None or type(value) is bytes:
        return value
    return text_module.encode(cast_to_text(value, encoding), encoding)  # type: ignore[arg-type]


def cast_to_integer(value: Value, encoding: int = text_module.UTF8) -> int | None:
    kind = type(value)
    if kind is int or value is None:
        return value  # type: ignore[return-value]
    if kind is float:
        return truncate(value)  # type: ignore[arg-type]
    return integer_prefix(cast_to_text(value, encoding))  # type: ignore[arg-type]


def truncate(value: float) -> int:
    """Toward zero, saturating at the 64-bit range."""
    if value >= _TWO_63:
        return 9223372036854775807
    if value <= -_TWO_63:
        return -9223372036854775808
    return int(value)


def cast_to_real(value: Value, encoding: int = text_module.UTF8) -> float | None:
    kind = type(value)
    if kind is float or value is None:
        return value  # type: ignore[return-value]
    if kind is int:
        return float(value)  # type: ignore[arg-type]
    return real_prefix(cast_to_text(value, encoding))  # type: ignore[arg-type]


def cast_to_numeric(value: Value, encoding: int = text_module.UTF8) -> Value:
    """Numbers stay; of text a pure integer prefix, else the real prefix, an integer again when small and integral."""
    kind = type(value)
    if kind is int or kind is float or value is None:
        return value
    number = number_prefix(cast_to_text(value, encoding))  # type: ignore[arg-type]
    if type(number) is float and -_TWO_51 <= number < _TWO_51 and number == int(number):
        return int(number)
    return number


_CASTS: dict[str, Callable[[Value, int], Value]] = {
    BLOB: cast_to_blob,
    TEXT: cast_to_text,
    NUMERIC: cast_to_numeric,
    INTEGER: cast_to_integer,
    REAL: cast_to_real,
}
CAST_FUNCTIONS = _CASTS
