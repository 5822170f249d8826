"""Cursors over trees, and the key arithmetic of searches: what generated scans call.

A scan is two loops, blocks outside and rows inside::

    for b0 in cursor:
        for k0, d0 in b0:
            ...
            if tree0.write_count != cursor.count:
                cursor.seek_after(k0)
                break

Cursor rule: whoever consumes rows may change the tree between two of them.  The generated loop compares ``write_count`` after everything that can
run foreign code; on a change the rest of the block is stale, and the cursor opens again behind the last delivered key.

A cursor walks a list of ranges, one after the other: several for IN terms.  With ``with_null`` it ends with one block holding the null row
of an outer join.  ``interrupt`` is tested once a block.
"""
from __future__ import annotations

from itertools import product

from sqlvec import errors
from sqlvec.expr.operations import numeric_operand
from sqlvec.values.compare import sort_key
from sqlvec.values.storage import apply_affinity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from sqlvec.pages.btree import IndexTree, TableTree
    from sqlvec.values.compare import Collation

NULL_ENTRY_BLOCK = (None,)
NULL_ROW_BLOCK = ((None, None),)
corrupt = errors.corrupt
LOWEST = -9223372036854775808
HIGHEST = 9223372036854775807
_END: tuple[()] = ()


class TableCursor:
    """Rows of a rowid tree in the rowid ranges ``ranges`` (pairs of inclusive bounds, None = open)."""

    __slots__ = ("blocks", "count", "descending", "hi", "interrupt", "lo", "ranges", "tree", "with_null")

    def __init__(self, tree: TableTree, lo: int | None, hi: int | None, descending: bool, interrupt: list[bool], with_null: bool = False) -> None:
        self.tree = tree
        self.lo = lo
        self.hi = hi
        self.descending = descending
        self.interrupt = interrupt
        self.with_null = with_null
        self.count = tree.write_count
        self.blocks: Iterator[Any] = iter(_END) if lo is not None and hi is not None and lo > hi else tree.blocks(lo, hi, descending)

    def __iter__(self) -> TableCursor:
        return self

    def __next__(self) -> Any:
        if self.interrupt[0]:
            raise errors.Interrupted()
        block = next(self.blocks, None)
        if block is not None:
            return block
        if self.with_null:
            self.with_null = False
            return NULL_ROW_BLOCK
        raise StopIteration

    def seek_after(self, key: int | None) -> None:
        """Go on behind the row with this rowid."""
        self.count = self.tree.write_count
        if key is None:
            return
        if self.descending:
            self.hi = key - 1
            is_empty = key == LOWEST or (self.lo is not None and self.hi < self.lo)
        else:
            self.lo = key + 1
            is_empty = key == HIGHEST or (self.hi is not None and self.lo > self.hi)
        self.blocks = iter(_END) if is_empty else self.tree.blocks(self.lo, self.hi, self.descending)


class IndexCursor:
    """Entries of an index tree in each of ``ranges`` = (lower, upper) in turn; a bound is ``(prefix, after)`` or None."""

    __slots__ = ("blocks", "count", "descending", "interrupt", "ranges", "tree", "upper", "with_null")

    def __init__(self, tree: IndexTree, ranges: Iterable[tuple[Any, Any]], descending: bool, interrupt: list[bool], with_null: bool = False) -> None:
        self.tree = tree
        self.ranges = iter(ranges)
        self.descending = descending
        self.interrupt = interrupt
        self.with_null = with_null
        self.count = tree.write_count
        self.blocks: Iterator[Any] = iter(_END)
        self.upper: Any = None

    def __iter__(self) -> IndexCursor:
        return self

    def __next__(self) -> Any:
        if self.interrupt[0]:
            raise errors.Interrupted()
        while True:
            block = next(self.blocks, None)
            if block is not None:
                return block
            bounds = next(self.ranges, None)
            if bounds is None:
                break
            lower, upper = bounds
            self.upper = lower if self.descending else upper
            self.blocks = self.tree.blocks(lower, upper, self.descending)
        if self.with_null:
            self.with_null = False
            return NULL_ENTRY_BLOCK
        raise StopIteration

    def seek_after(self, entry: bytes | None) -> None:
        """Go on behind this entry."""
        tree = self.tree
        self.count = tree.write_count
        if entry is None:
            return
        key = tree.layout.project(entry, tree.layout.key_columns)
        if self.descending:
            self.blocks = tree.blocks(self.upper, (key, False), True)
        else:
            self.blocks = tree.blocks((key, True), self.upper, False)


# --- rowids ----------------------------------------------------------------------------------------------------------------------------


def rowid_of(value: Any) -> int | None:
    """The rowid that equals a value, None if there cannot be one."""
    if type(value) is int:
        return value
    value = numeric_operand(value)
    if type(value) is int:
        return value
    if type(value) is float and -9223372036854775808.0 <= value < 9223372036854775808.0 and value == int(value):
        return int(value)
    return None


def lookup_all(tree: TableTree, rowids: Iterable[int], with_null: bool = False) -> Iterator[tuple[Any, Any]]:
    """The rows with these rowids, in this order."""
    for rowid in rowids:
        payload = tree.get(rowid)
        if payload is not None:
            yield rowid, payload
    if with_null:
        yield None, None


def rowids_in(values: Iterable[Any], descending: bool) -> list[int]:
    """The distinct rowids among values, in visiting order."""
    found = {rowid for rowid in map(rowid_of, values) if rowid is not None}
    return sorted(found, reverse=descending)


def low_rowid(value: Any, inclusive: bool) -> int | None:
    """The smallest rowid that is > (>=) the value; beyond HIGHEST when there is none.  None in, nothing matches."""
    if type(value) is not int:
        value = numeric_operand(value)
        if value is None or type(value) in (str, bytes):
            return HIGHEST + 1
        if type(value) is float:
            if value >= 9223372036854775808.0:
                return HIGHEST + 1
            if value < -9223372036854775808.0:
                return LOWEST
            floor = int(value // 1)
            return floor if floor == value and inclusive else floor + 1
    return value if inclusive else value + 1  # type: ignore[no-any-return]


def high_rowid(value: Any, inclusive: bool) -> int | None:
    """The greatest rowid that is < (<=) the value; below LOWEST when there is none."""
    if type(value) is not int:
        value = numeric_operand(value)
        if value is None:
            return LOWEST - 1
        if type(value) in (str, bytes):
            return HIGHEST
        if type(value) is float:
            if value >= 9223372036854775808.0:
                return HIGHEST
            if value < -9223372036854775808.0:
                return LOWEST - 1
            floor = int(value // 1)
            return floor if floor != value or inclusive else floor - 1
    return value if inclusive else value - 1  # type: ignore[no-any-return]


def rowid_cursor(tree: TableTree, lo: int | None, hi: int | None, descending: bool, interrupt: list[bool], with_null: bool = False) -> TableCursor:
    """A cursor over lo..hi, where the bounds may lie outside the 64-bit range."""
    if (lo is not None and lo > HIGHEST) or (hi is not None and hi < LOWEST):
        lo, hi = 1, 0
    return TableCursor(tree, lo, hi, descending, interrupt, with_null)


# --- index ranges ----------------------------------------------------------------------------------------------------------------------


def key_values(values: Iterable[Any], affinity: Any, collation: Collation | None, descending: bool) -> list[Any]:
    """The right side of an IN as distinct non-NULL keys in visiting order."""
    keyed = {}  # type: ignore[var-annotated]
    for value in values:
        if value is not None:
            value = apply_affinity(value, affinity)
            keyed.setdefault(sort_key(value, collation), value)
    return [keyed[key] for key in sorted(keyed, reverse=descending)]


def key_rows(rows: Iterable[tuple[Any, ...]], affinities: tuple[Any, ...], collations: tuple[Any, ...],
             descending: tuple[bool, ...]) -> list[tuple[Any, ...]]:
    """The right side of a row-value IN as distinct key rows in visiting order; rows with NULL are out."""
    keyed = {}  # type: ignore[var-annotated]
    for row in rows:
        if None not in row:
            values = tuple(apply_affinity(value, affinity) for value, affinity in zip(row, affinities, strict=True))
            keyed.setdefault(tuple(sort_key(value, collation) for value, collation in zip(values, collations, strict=True)), values)
    ordered = sorted(keyed)
    for position in range(len(descending) - 1, -1, -1):
        if descending[position]:
            ordered.sort(key=lambda key, at=position: key[at], reverse=True)  # type: ignore[misc]
    return [keyed[key] for key in ordered]


def cross(groups: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Prefixes from groups of alternatives (each a list of tuples), nested in index order."""
    for choice in product(*groups):
        yield tuple([value for part in choice for value in part])


def skip_prefixes(tree: IndexTree, count: int, groups: tuple[Any, ...], descending: bool) -> Iterator[tuple[Any, ...]]:
    """Skip-scan: every distinct prefix of ``count`` fields that the index holds, each followed by the alternatives of ``groups``."""
    bound = None
    tails = list(cross(groups))
    while True:
        blocks = tree.blocks(None, bound, True) if descending else tree.blocks(bound, None, False)
        block = next(blocks, None)
        if block is None:
            return
        prefix = tree.layout.project(block[0], count)
        for tail in tails:
            yield prefix + tail
        bound = (prefix, not descending)


def bound_values(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], bool] | None:
    """The usable part of a (row-value) bound: up to the first NULL; second = it was cut.  None when the first is NULL."""
    for position, value in enumerate(values):
        if value is None:
            return (values[:position], True) if position else None
    return values, False


def one_range(prefix: tuple[Any, ...], low: Any, low_inclusive: bool, high: Any, high_inclusive: bool, is_descending: bool,
              skip_null: bool) -> tuple[Any, Any] | None:
    """The positions between which entries begin with ``prefix`` and the next fields lie between the bounds (tuples or None).

    ``is_descending``: the field after the prefix is a DESC index column.  ``skip_null``: exclude NULLs in it."""
    lower: Any = (prefix, False) if prefix else None
    upper: Any = (prefix, True) if prefix else None
    if low is not None:
        usable = bound_values(low)
        if usable is None:
            return None
        values, is_cut = usable
        if is_descending:
            upper = (prefix + values, low_inclusive and not is_cut)
        else:
            lower = (prefix + values, not low_inclusive or is_cut)
    elif skip_null:
        if is_descending:
            upper = ((*prefix, None), False)
        else:
            lower = ((*prefix, None), True)
    if high is not None:
        usable = bound_values(high)
        if usable is None:
            return None
        values, is_cut = usable
        if is_descending:
            lower = (prefix + values, not high_inclusive or is_cut)
        else:
            upper = (prefix + values, high_inclusive and not is_cut)
    return lower, upper


def ranges_of(prefixes: Iterable[tuple[Any, ...]], low: Any, low_inclusive: bool, high: Any, high_inclusive: bool, is_descending: bool,
              skip_null: bool) -> Iterator[tuple[Any, Any]]:
    """:func:`one_range` for each prefix."""
    for prefix in prefixes:
        bounds = one_range(prefix, low, low_inclusive, high, high_inclusive, is_descending, skip_null)
        if bounds is not None:
            yield bounds


def null_ranges(ranges: Iterable[tuple[Any, Any]], prefixes: list[tuple[Any, ...]], nulls_last: bool) -> Iterator[tuple[Any, Any]]:
    """Two passes: NULLs of the next field apart from the others, first or last against their natural place."""
    for bounds, prefix in zip(ranges, prefixes, strict=True):
        nulls = ((*prefix, None), False), ((*prefix, None), True)
        if nulls_last:
            yield bounds
            yield nulls
        else:
            yield nulls
            yield bounds


def fetch_by_key(tree: IndexTree, key: tuple[Any, ...]) -> bytes:
    """The row of a WITHOUT ROWID table that an index entry points to."""
    payload = tree.contains_prefix(key)
    if payload is None:
        raise errors.corrupt()
    return payload


def with_null_row(rows: Iterable[Any], null: Any) -> Iterator[Any]:
    """Rows followed by a null row."""
    yield from rows
    yield null


def unique_rows(seen: set[Any], rows: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
    """(key, payload) pairs whose key wasn't there before."""
    for pair in rows:
        if pair[0] not in seen:
            seen.add(pair[0])
            yield pair


def column_of(rows: Any, number: int) -> list[Any]:
    """One column of rows."""
    return [row[number] for row in rows]


def alternative(value: Any, is_equality: bool) -> tuple[Any, ...]:
    """One value as a group; NULL never equals."""
    return () if is_equality and value is None else ((value,),)


def as_rows(values: list[Any]) -> list[tuple[Any, ...]]:
    """Values as rows of one column."""
    return [(value,) for value in values]


def columns_of_rows(rows: Any, numbers: tuple[int, ...]) -> list[tuple[Any, ...]]:
    """Some columns of rows."""
    return [tuple([row[number] for number in numbers]) for row in rows]


def chain_rows(parts: tuple[Any, ...]) -> Any:
    """Rows of each part in turn."""
    for part in parts:
        yield from part
