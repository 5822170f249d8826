"""Keys of rows in memory: ordering and hashing of tuples under collations, as sorters and temporary indexes of SQLite do.

``order`` sorts a list of rows by terms and is stable.  Its fast paths look at the values of a column once: all numbers, or all text under plain BINARY, compare
as they are; anything else goes through ``values.compare.sort_key``.

``hash_function`` makes ``row -> key``: keys are equal exactly when the rows are equal column by column (NULLs are equal, 1 = 1.0, text by collation).
"""
from __future__ import annotations

from operator import itemgetter

from sqlvec.values import text as text_module
from sqlvec.values.compare import hash_key, sort_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlvec.values.compare import Collation

_NUMBERS = ({int}, {float}, {int, float})
NULL_AT_END = (9,)


class SortTerm:
    """Column ``place`` of the key rows, its collation, direction, and whether NULLs stand against their natural place."""

    __slots__ = ("collation", "descending", "null_is_greatest", "place")

    def __init__(self, place: int, collation: Collation, descending: bool, nulls_last: bool | None) -> None:
        self.place = place
        self.collation = collation
        self.descending = descending
        self.null_is_greatest = nulls_last is not None and nulls_last is not descending

    def at(self, place: int) -> SortTerm:
        """The same term over another column."""
        copy = SortTerm(place, self.collation, self.descending, None)
        copy.null_is_greatest = self.null_is_greatest
        return copy

    def keys(self, values: list[Any]) -> tuple[list[Any], bool]:
        """(comparable keys of a column of values, can be negated)."""
        kinds = set(map(type, values))
        if kinds in _NUMBERS:
            return values, True
        collation = self.collation
        if kinds == {str} and collation.is_binary and not text_module.invalid_text_seen:
            return values, False
        if self.null_is_greatest:
            return [NULL_AT_END if value is None else sort_key(value, collation) for value in values], False
        return [sort_key(value, collation) for value in values], False


def order(rows: list[Any], key_rows: list[Any], terms: list[SortTerm]) -> list[Any]:
    """``rows`` in the order of their ``key_rows`` (the same list, or one key row per row); stable."""
    if len(rows) < 2 or not terms:
        return rows
    columns = []
    directions = []
    for term in terms:
        keys, negatable = term.keys([row[term.place] for row in key_rows])
        descending = term.descending
        if descending and negatable and len(terms) > 1:
            keys = [-key for key in keys]
            descending = False
        columns.append(keys)
        directions.append(descending)
    indexes = range(len(rows))
    if len(columns) == 1:
        ordered = sorted(indexes, key=columns[0].__getitem__, reverse=directions[0])
    elif len(set(directions)) == 1:
        keys = list(zip(*columns, strict=True))
        ordered = sorted(indexes, key=keys.__getitem__, reverse=directions[0])
    else:
        ordered = list(indexes)
        for keys, descending in zip(reversed(columns), reversed(directions), strict=True):
            ordered.sort(key=keys.__getitem__, reverse=descending)
    return [rows[index] for index in ordered]


def is_plain(collation: Collation) -> bool:
    """Is a text its own hash key under this collation?"""
    return collation.is_binary or (collation.is_builtin and collation.name == "BINARY")


def hash_function(places: tuple[int, ...] | None, collations: tuple[Collation, ...]) -> Callable[[Any], Any]:
    """``row -> hashable key`` over the columns ``places`` (None: the whole row, of the collations' width)."""
    if places is None:
        places = tuple(range(len(collations)))
    if all(is_plain(collation) for collation in collations):
        if len(places) == 1:
            return itemgetter(places[0])
        if places == tuple(range(len(places))):
            width = len(places)
            return lambda row: row[:width]
        return itemgetter(*places)
    pairs = tuple(zip(places, collations, strict=True))
    return lambda row: tuple([hash_key(row[place], collation) for place, collation in pairs])
