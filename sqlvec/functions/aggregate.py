"""The built-in aggregates as states: ``step(*args)``, ``value()``, ``inverse(*args)`` (takes the oldest row out of a sliding frame).

Sums of reals are plain left-to-right additions of doubles.  ``sum`` is exact in integers as long as only integers came (text that
spells an integer counts as one); once a real came the result is the running double.  An integer overflow before that is an error,
raised by ``value()``.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.functions.core import MAX_LENGTH
from sqlvec.values.compare import compare
from sqlvec.values.numeric_text import MAX_INTEGER, MIN_INTEGER, number_of_text, real_prefix
from sqlvec.values.storage import cast_to_text
from sqlvec.values.text import canonical, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.values.compare import Collation
    from sqlvec.values.storage import Value


class CountRows:
    """count(*)"""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def step(self) -> None:
        self.count += 1

    def inverse(self) -> None:
        self.count -= 1

    def value(self) -> int:
        return self.count


class Count:
    """count(x)"""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def step(self, value: Value) -> None:
        if value is not None:
            self.count += 1

    def inverse(self, value: Value) -> None:
        if value is not None:
            self.count -= 1

    def value(self) -> int:
        return self.count


def number_argument(value: Value) -> int | float:
    """What sum() adds for a non-NULL value: the integer or real that it is or wholly spells, else the real prefix."""
    kind = type(value)
    if kind is int or kind is float:
        return value  # type: ignore[return-value]
    text = decode(value) if kind is bytes else value  # type: ignore[arg-type]
    if kind is not bytes:
        number = number_of_text(text)  # type: ignore[arg-type]
        if number is not None:
            return number
    return real_prefix(text)  # type: ignore[arg-type]


class Sum:
    """sum(x): NULL without rows, integer while exact, else real."""

    __slots__ = ("approximate", "count", "overflow", "real", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = 0
        self.real = 0.0
        self.approximate = False
        self.overflow = False

    def step(self, value: Value) -> None:
        if value is None:
            return
        self.count += 1
        if type(value) is not int and type(value) is not float:
            value = number_argument(value)
        if type(value) is int:
            self.real += value
            if not (self.approximate or self.overflow):
                total = self.total + value
                if MIN_INTEGER <= total <= MAX_INTEGER:
                    self.total = total
                else:
                    self.approximate = True
                    self.overflow = True
        else:
            self.real += value  # type: ignore[operator]
            self.approximate = True

    def inverse(self, value: Value) -> None:
        if value is None:
            return
        self.count -= 1
        value = number_argument(value)
        if type(value) is int and not self.approximate:
            self.total -= value
            self.real -= value
        else:
            self.real -= value  # type: ignore[operator]

    def value(self) -> int | float | None:
        if not self.count:
            return None
        if self.overflow:
            raise errors.integer_overflow()
        if self.approximate:
            return self.real if self.real == self.real else None
        return self.total


class Total(Sum):
    """total(x): always real."""

    __slots__ = ()

    def value(self) -> float | None:
        return self.real if self.real == self.real else None


class Average(Sum):
    """avg(x): real, NULL without rows."""

    __slots__ = ()

    def value(self) -> float | None:
        if not self.count:
            return None
        result = self.real / self.count
        return result if result == result else None


class Maximum:
    """max(x) under a collation: the first of the greatest values."""

    __slots__ = ("best", "collation")

    def __init__(self, collation: Collation | None = None) -> None:
        self.best: Value = None
        self.collation = collation

    def step(self, value: Value) -> bool:
        """Returns True when the value became the new extreme (bare columns follow it)."""
        if value is not None and (self.best is None or compare(value, self.best, self.collation) > 0):
            self.best = value
            return True
        return False

    def value(self) -> Value:
        return self.best


class Minimum:
    """min(x) under a collation: the first of the least values."""

    __slots__ = ("best", "collation")

    def __init__(self, collation: Collation | None = None) -> None:
        self.best: Value = None
        self.collation = collation

    def step(self, value: Value) -> bool:
        """Returns True when the value became the new extreme (bare columns follow it)."""
        if value is not None and (self.best is None or compare(value, self.best, self.collation) < 0):
            self.best = value
            return True
        return False

    def value(self) -> Value:
        return self.best


class GroupConcat:
    """group_concat(x [, separator]): the separator of a row stands before its value; the first one is not written.

    An aggregate joins once at the end.  A frame whose start moves keeps the joined text instead, as the original does: a row that
    leaves takes its own length and that of the separator behind it off the front, and after that an empty text starts anew, even if
    rows of empty text are still in the frame.
    """

    __slots__ = ("buffer", "count", "first_length", "is_fresh", "lengths", "parts", "separators", "size")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.separators: list[str] = []
        self.size = 0
        self.buffer: str | None = None
        self.count = 0
        self.is_fresh = True
        self.first_length = 0
        self.lengths: list[int] | None = None

    def step(self, value: Value, separator: Value = ",") -> None:
        if value is None:
            return
        text: str = value if type(value) is str else cast_to_text(value)  # type: ignore[assignment]
        between: str = separator if type(separator) is str else cast_to_text(separator) or ""
        self.size += len(text) + len(between)
        if self.size > MAX_LENGTH:
            raise errors.string_or_blob_too_big()
        if self.buffer is None:
            self.parts.append(text)
            self.separators.append(between)
        else:
            self._append(text, between)

    def _append(self, text: str, separator: str) -> None:
        """Put a row behind the buffer; separators of different lengths are remembered one by one."""
        if self.is_fresh:
            self.is_fresh = False
            self.buffer = text
            self.first_length = len(separator)
        else:
            self.buffer = f"{self.buffer}{separator}{text}"
            if self.lengths is not None or len(separator) != self.first_length:
                if self.lengths is None:
                    self.lengths = [self.first_length] * (self.count - 1)
                self.lengths.extend([0] * (self.count - len(self.lengths)))
                self.lengths[self.count - 1] = len(separator)
        self.count += 1

    def inverse(self, value: Value, separator: Value = ",") -> None:
        if value is None:
            return
        if self.buffer is None:
            self.buffer = ""
            for part, between in zip(self.parts, self.separators, strict=True):
                self._append(part, between)
            self.parts = []
            self.separators = []
        size = len(value if type(value) is str else cast_to_text(value))  # type: ignore[arg-type]
        self.count -= 1
        if self.lengths is None:
            size += self.first_length
        elif self.count:
            size += self.lengths.pop(0)
        self.buffer = self.buffer[size:]
        if not self.buffer:
            self.is_fresh = True
            self.size = 0
            self.lengths = None

    def value(self) -> str | None:
        """The result of an aggregate."""
        if self.buffer is not None:
            return canonical(self.buffer) if self.count else None
        parts, separators = self.parts, self.separators
        if not parts:
            return None
        first = separators[0]
        if separators.count(first) == len(separators):
            return canonical(first.join(parts))
        pieces = [parts[0]]
        for separator, part in zip(separators[1:], parts[1:], strict=True):
            pieces.append(separator)
            pieces.append(part)
        return canonical("".join(pieces))

    def window_value(self) -> str | None:
        """The result over a frame: here an empty text is NULL."""
        return self.value() or None
