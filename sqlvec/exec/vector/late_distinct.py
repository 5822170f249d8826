"""Distinct rows once memory is used up.

A hash set of keys that has grown to its share of the memory budget is frozen: it goes on telling which rows are known, and learns no more.  The rows that
it doesn't know come here.  They are sorted by their keys (runs.py, on disk where need be), the first of equal ones is kept, and those are put
back into the order in which they came: that is the order of first appearance, for all of them came after the set was frozen.
"""
from __future__ import annotations

from sqlvec.columnar.batch import ColumnBatch, of_vectors
from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import ColumnVector, integers
from sqlvec.exec.vector.runs import ExternalSort, Term, block_of
from sqlvec.exec.vector.window_layout import changes, changes_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from sqlvec.settings import Settings

_ORDINAL = ("ordinal", 0)


class LateDistinct:
    """Rows with columns ``names``, distinct by ``keys`` under ``collations``."""

    def __init__(self, names: list[Any], keys: list[Any], collations: Sequence[str], settings: Settings) -> None:
        self.names = names
        self.keys = keys
        self.collations = list(collations)
        terms = [Term(name, collation=collation) for name, collation in zip(keys, collations, strict=True)]
        budget = settings.memory_budget // 3
        self.by_key = ExternalSort([*names, _ORDINAL], terms, budget, settings.temp_store_directory)
        self.by_arrival = ExternalSort([*names, _ORDINAL], [Term(_ORDINAL)], budget, settings.temp_store_directory)
        self.count = 0

    def add(self, vectors: list[ColumnVector], count: int) -> None:
        """Take rows that the frozen set doesn't know."""
        block = block_of(self.names, vectors)
        block[_ORDINAL] = integers(np.arange(self.count, self.count + count, dtype=np.int64))
        self.count += count
        self.by_key.add(block, count)

    def rows(self) -> Iterator[ColumnBatch]:
        """The distinct ones, in arrival order."""
        adjacent = Adjacent(self.keys, self.collations)
        for block in self.by_key.rows():
            first = np.flatnonzero(adjacent.new(block))
            if len(first):
                self.by_arrival.add({name: vector.take(first).detached() for name, vector in block.items()}, len(first))
        for block in self.by_arrival.rows():
            yield of_vectors(block[_ORDINAL].count, {name: block[name] for name in self.names})


class Adjacent:
    """Tells over many blocks where a row differs from the one before it."""

    def __init__(self, names: Sequence[Any], collations: Sequence[str]) -> None:
        self.names = names
        self.collations = list(collations)
        self.last: list[ColumnVector] = []

    def new(self, block: dict[Any, ColumnVector]) -> Any:
        """Mask of the rows that begin a run of equal ones."""
        vectors = [block[name] for name in self.names]
        count = vectors[0].count
        changed = changes_after(self.last, vectors, self.collations) if self.last else changes(vectors, self.collations, count)
        self.last = [vector.flat().slice(count - 1, count).detached() for vector in vectors]
        return changed


__all__ = ["Adjacent", "LateDistinct"]
