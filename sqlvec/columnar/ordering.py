"""Stable sorting of rows by several SQL values.

Each sort key becomes a short sequence of *components*, plain numpy arrays whose order is the order wanted: the class first where classes are
mixed, the number, or the eight-byte words of a text and then its length.  The rows are sorted by the first component; only rows that are still
tied are refined by the next one, so that long texts cost as many words as it takes to tell them apart.

Equal rows keep the order in which they came.  Descending components are the bitwise complement (integers) or the negative (doubles) of the
ascending ones: both keep equal values equal.
"""
from __future__ import annotations

from sqlvec.columnar.kernels.text import folded, words_at
from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import BLOB, INTEGER, NULL, REAL, TEXT, ColumnVector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

_EXACT = 1 << 53
_RANKS = np.array([1, 2, 2, 3, 4], np.uint8)


class SortKey:
    """One key: its vector, direction, where NULLs go (None: they are the smallest) and the collation."""

    __slots__ = ("collation", "descending", "nulls_last", "vector")

    def __init__(self, vector: ColumnVector, descending: bool = False, nulls_last: bool | None = None, collation: str = "BINARY") -> None:
        self.vector = vector
        self.descending = descending
        self.nulls_last = nulls_last
        self.collation = collation.upper()


def sort_order(keys: Sequence[SortKey], count: int) -> Any:
    """The positions 0..count-1 in sorted order."""
    order = np.arange(count, dtype=np.int64)
    if count < 2:
        return order
    tied = order.copy()                           # places in ``order`` that are still tied with a neighbour
    runs = np.zeros(count, np.int64)              # run of equal rows that each tied place belongs to
    is_first = True
    for key in keys:
        for component in _components(key):
            rows = order.take(tied)
            values = component(rows)
            if is_first:
                inner = np.argsort(values, kind="stable")
                is_first = False
            else:
                inner = np.lexsort((values, runs))
            order[tied] = rows.take(inner)
            values, runs = values.take(inner), runs.take(inner)
            same = (values[1:] == values[:-1]) & (runs[1:] == runs[:-1])
            keep = np.zeros(len(tied), bool)
            keep[1:] = same
            keep[:-1] |= same
            starts = np.ones(len(tied), np.int64)
            starts[1:] = ~same
            runs = np.cumsum(starts)[keep]
            tied = tied[keep]
            if not len(tied):
                return order
    return order


def _components(key: SortKey) -> Iterator[Any]:
    """Functions rows -> values, one per component, most significant first."""
    vector = key.vector
    if vector.is_constant:
        return
    vector = vector.flat().settled()
    tags = vector.tags
    down = key.descending
    if type(tags) is not int:
        yield _class_component(key, tags)
        present = [tag for tag in range(5) if (tags == tag).any()]
    else:
        present = [tags]
    if INTEGER in present or REAL in present:
        yield from _number_components(vector, present, down)
    for tag in (TEXT, BLOB):
        if tag in present:
            yield from _text_components(vector, tag, key.collation if tag == TEXT else "BINARY", down)


def _class_component(key: SortKey, tags: Any) -> Any:
    ranks = _RANKS.take(tags)
    if key.descending:
        ranks = np.uint8(9) - ranks
    if key.nulls_last is not None:
        ranks = np.where(tags == NULL, np.uint8(20 if key.nulls_last else 0), ranks)
    return ranks.take


def _number_components(vector: ColumnVector, present: list[int], down: bool) -> Iterator[Any]:
    bits, tags = vector.bits, vector.tags
    if REAL not in present:
        values = bits if len(present) == 1 else np.where(tags == INTEGER, bits, 0)
        yield (~values).take if down else values.take
        return
    if INTEGER not in present:
        doubles = vector.reals if len(present) == 1 else np.where(tags == REAL, vector.reals, 0.0)
        yield (-doubles).take if down else doubles.take
        return
    whole = np.where(tags == INTEGER, bits, 0)
    doubles = np.where(tags == REAL, vector.reals, whole.astype(np.float64))
    doubles = np.where(tags <= REAL, doubles, 0.0)
    yield (-doubles).take if down else doubles.take
    if int(whole.max()) > _EXACT or int(whole.min()) < -_EXACT:
        # integers that a double can't hold: the rest decides among equal doubles
        inside = (doubles >= -9223372036854775808.0) & (doubles < 9223372036854775808.0)
        near = np.where(inside, doubles, 0.0).astype(np.int64)
        rest = np.where((tags == INTEGER) & inside, whole - near, 0)
        rest = np.where((tags == INTEGER) & (doubles >= 9223372036854775808.0), whole - 0x7FFFFFFFFFFFFFFF - 1, rest)
        yield (~rest).take if down else rest.take


def _text_components(vector: ColumnVector, tag: int, collation: str, down: bool) -> Iterator[Any]:
    tags = vector.tags
    if type(tags) is int:
        text = vector
    else:
        # values of other classes are tied among themselves here: give them the empty text
        is_text = tags == tag
        lengths = np.where(is_text, vector.length_array(), 0)
        text = ColumnVector(vector.count, tag, np.where(is_text, vector.bits, 0), lengths, vector.heap)
    if collation != "BINARY":
        text = folded(text, collation)
    lengths = text.length
    longest = lengths if type(lengths) is int else int(lengths.max())
    for number in range((longest + 7) // 8):
        yield _word_component(text, number, down)
    if type(lengths) is not int:
        yield (~lengths).take if down else lengths.take


def _word_component(text: ColumnVector, number: int, down: bool) -> Any:
    def words(rows: Any) -> Any:
        found = words_at(text, number, rows)
        if len(found) != len(rows):
            found = np.full(len(rows), found[0], np.uint64)
        return ~found if down else found

    return words
