"""The order of an index tree: how many leading fields count, their directions and collations.

Two ways to compare entries.  *Plain* layouts (BINARY, ascending, UTF-8) compare the decoded tuples themselves: Python orders int
against float exactly and text by code point, which is the order of its UTF-8 bytes.  Where that fails (different storage classes
raise TypeError, invalid text orders by escapes) and for all other layouts, :meth:`KeyLayout.sort_key` turns a value tuple into a tuple
that compares in index order: a rank per storage class, then the value, the collation's key or an inverted value.
"""
from __future__ import annotations

from sqlvec.pages.record import DAMAGE, DAMAGED, BrokenChain, KeyShapes, encode_text, fields_for_comparison, projector
from sqlvec.values import text as text_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlvec.pages.record import Value


class Inverted:
    """Orders against its like in reverse."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: Inverted) -> bool:
        return other.value < self.value  # type: ignore[no-any-return]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Inverted) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)


class _Top:
    """Greater than every value: closes a prefix so that it sorts behind all entries that begin with it."""

    __slots__ = ()

    def __lt__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return True


TOP = _Top()


class Probe:
    """A position between entries: before (or ``after``) all entries that begin with ``prefix``."""

    __slots__ = ("_sort_key", "after", "count", "layout", "plain", "prefix")

    def __init__(self, layout: KeyLayout, prefix: tuple[Value, ...], after: bool) -> None:
        self.layout = layout
        self.prefix = prefix
        self.after = after
        self.count = min(len(prefix), layout.key_columns)
        self.plain: tuple[Any, ...] | None = None
        if layout.is_plain and not text_module.invalid_text_seen:
            self.plain = (*prefix, TOP) if after else prefix
        self._sort_key: tuple[Any, ...] | None = None

    def sort_key(self) -> tuple[Any, ...]:
        """What sort keys of entries compare with."""
        if self._sort_key is None:
            key = self.layout.sort_key(self.prefix)
            self._sort_key = (*key, TOP) if self.after else key
        return self._sort_key

    def is_behind(self, values: tuple[Value, ...]) -> bool:
        """Is the position behind the entry that begins with ``values`` (at least ``count`` fields, where it has them)?"""
        if self.plain is not None:
            try:
                return values < self.plain
            except TypeError:
                pass
        return self.layout.sort_key(values[: self.layout.key_columns]) < self.sort_key()


class KeyLayout:
    """``key_columns`` leading fields take part in the order.

    An ordinary index counts all its fields (columns and rowid); a WITHOUT ROWID table counts the PRIMARY KEY fields.
    ``descending`` and ``collations`` may be shorter than ``key_columns`` (missing: ascending, BINARY).  A collation is a function from
    text to something that compares in the collation's order.
    """

    __slots__ = ("_projectors", "_shapes", "collations", "descending", "encoding", "is_plain", "key_columns")

    def __init__(
        self,
        key_columns: int,
        descending: tuple[bool, ...] = (),
        collations: tuple[Callable[[str], Any] | None, ...] = (),
        encoding: str = "utf-8",
    ) -> None:
        self.key_columns = key_columns
        self.descending = tuple(descending) + (False,) * (key_columns - len(descending))
        self.collations = tuple(collations) + (None,) * (key_columns - len(collations))
        self.encoding = encoding
        self.is_plain = encoding == "utf-8" and not any(self.descending) and all(c is None for c in self.collations)
        self._shapes: dict[int, KeyShapes] = {}
        self._projectors: dict[int, Callable[[bytes], tuple[Value, ...]]] = {}

    def orders_like(self, other: KeyLayout) -> bool:
        """Do both layouts order entries in the same way?"""
        return (self.key_columns, self.descending, self.collations, self.encoding) == (
            other.key_columns, other.descending, other.collations, other.encoding
        )

    def project(self, payload: bytes, count: int) -> tuple[Value, ...]:
        """The first ``count`` fields of an entry."""
        found = self._projectors.get(count)
        if found is None:
            found = self._projectors[count] = projector(tuple(range(count)), self.encoding)
        return found(payload)

    def prefix_shapes(self, count: int) -> KeyShapes:
        """The decoders behind :meth:`key_fields`, for loops that fuse with them."""
        found = self._shapes.get(count)
        if found is None:
            found = self._shapes[count] = KeyShapes(tuple(range(count)), self.encoding)
        return found

    def key_fields(self, payload: bytes, count: int) -> tuple[Any, ...]:
        """The first ``count`` fields for comparing: a damaged one raises (IndexError) when the comparison comes to it."""
        try:
            if type(payload) is bytes:
                return self.prefix_shapes(count)[payload[: payload[0]]](payload)  # type: ignore[no-any-return]
        except DAMAGE:
            pass
        if type(payload) is BrokenChain:
            return (DAMAGED,)
        return fields_for_comparison(payload, count, self.encoding)

    def prefix_projector(self, count: int) -> Callable[[bytes], tuple[Value, ...]]:
        """The function behind :meth:`project`, for loops."""
        found = self._projectors.get(count)
        if found is None:
            found = self._projectors[count] = projector(tuple(range(count)), self.encoding)
        return found

    def sort_key(self, values: tuple[Value, ...]) -> tuple[Any, ...]:
        """A tuple that compares in index order against other sort keys of the same length."""
        out: list[Any] = []
        for position, value in enumerate(values):
            rank: int
            key: Any
            if value is None:
                rank, key = 0, 0
            elif isinstance(value, str):
                rank = 2
                collation = self.collations[position]
                key = encode_text(value, self.encoding) if collation is None else collation(value)
            elif isinstance(value, bytes):
                rank, key = 3, value
            elif value is DAMAGED:
                out.append(value)
                break
            else:
                rank, key = 1, value
            if self.descending[position]:
                rank = -rank
                key = -key if rank == -1 else Inverted(key)
            out.append(rank)
            out.append(key)
        return tuple(out)

    def compare(self, left: tuple[Value, ...], right: tuple[Value, ...]) -> int:
        """-1, 0 or 1 over the fields that both have."""
        count = min(len(left), len(right))
        left = left[:count]
        right = right[:count]
        if self.is_plain and not text_module.invalid_text_seen:
            if left == right:
                return 0
            try:
                return -1 if left < right else 1  # type: ignore[operator]
            except TypeError:
                pass
        a, b = self.sort_key(left), self.sort_key(right)
        return 0 if a == b else -1 if a < b else 1
