"""A batch: some rows, whose columns are made when asked for.

Columns are known by a key, in the vector engine ``(source, number)``.  A batch draws them from *parts* (a scan's record batch, the stored
side of a join) and keeps what it has made.  ``take`` gives a batch of chosen rows that makes nothing yet: a column that the parent has is
taken from there, another is gathered for the chosen rows only (late gathering).

A :class:`Part` has ``column(key) -> ColumnVector``, ``take(positions) -> part`` and tells what making a column takes (``steps``);
:class:`StoredColumns` is the plain one.
"""
from __future__ import annotations

from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import ColumnVector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


class Part:
    """Where a batch draws columns from."""

    __slots__ = ()

    def column(self, key: Any) -> ColumnVector:
        raise NotImplementedError

    def take(self, positions: Any) -> Part:
        raise NotImplementedError

    def steps(self, key: Any) -> list[tuple[Any, float]]:
        """What making the column takes, as (step, cost) pairs; columns share steps.  Nothing is left to do for columns that exist."""
        return []


class StoredColumns(Part):
    """Columns that exist already."""

    __slots__ = ("positions", "vectors")

    def __init__(self, vectors: dict[Any, ColumnVector], positions: Any = None) -> None:
        self.vectors = vectors
        self.positions = positions

    def column(self, key: Any) -> ColumnVector:
        vector = self.vectors[key]
        return vector if self.positions is None else vector.take(self.positions)

    def take(self, positions: Any) -> StoredColumns:
        return type(self)(self.vectors, positions if self.positions is None else self.positions.take(positions))

    def keys(self) -> Iterable[Any]:
        return self.vectors.keys()


class ColumnBatch:
    """``count`` rows; ``parts`` maps a column key to the part that has it; ``ordinals`` (int64 or None) is the row's place in plan order."""

    __slots__ = ("_parent", "_positions", "_taken", "count", "memo", "ordinals", "parts", "vectors")

    def __init__(self, count: int, parts: dict[Any, Any], ordinals: Any = None) -> None:
        self.count = count
        self.parts = parts
        self.ordinals = ordinals
        self.vectors: dict[Any, ColumnVector] = {}
        self.memo: dict[int, Any] = {}
        self._parent: ColumnBatch | None = None
        self._positions: Any = None
        self._taken: dict[int, Any] = {}

    def column(self, key: Any) -> ColumnVector:
        """The column ``key`` of all rows (KeyError: no part has it)."""
        found = self.vectors.get(key)
        if found is None:
            found = self.vectors[key] = self._make(key)
        return found

    def steps(self, key: Any) -> list[tuple[Any, float]]:
        """What making the column takes: (step, cost) pairs; columns of one part share steps."""
        part = self.parts[key]
        return [((id(part), step), cost) for step, cost in part.steps(key)]

    def origin(self, key: Any) -> tuple[Any, list[Any]]:
        """(the part that a column comes from, the choices of rows since then, the last one first)."""
        batch: ColumnBatch = self
        choices = []
        while batch._parent is not None:
            choices.append(batch._positions)
            batch = batch._parent
        return batch.parts.get(key), choices

    def has(self, key: Any) -> bool:
        return key in self.vectors or key in self.parts

    def _make(self, key: Any) -> ColumnVector:
        batch: ColumnBatch = self
        positions: Any = None
        while batch._parent is not None:
            positions = batch._positions if positions is None else batch._positions.take(positions)
            batch = batch._parent
            found = batch.vectors.get(key)
            if found is not None:
                return found.take(positions)
        part = self.parts[key]
        if positions is not None:
            taken = self._taken.get(id(part))
            if taken is None:
                taken = self._taken[id(part)] = part.take(positions)
            part = taken
        return part.column(key)

    def take(self, positions: Any) -> ColumnBatch:
        """The rows at ``positions``, in that order."""
        out = ColumnBatch(len(positions), self.parts, None if self.ordinals is None else self.ordinals.take(positions))
        out._parent = self
        out._positions = positions
        return out

    def slice(self, start: int, stop: int) -> ColumnBatch:
        return self.take(np.arange(start, stop, dtype=np.int64))


class BatchPart(Part):
    """A batch as a part of another; ``names`` (None: the same) maps the keys here to those of the batch."""

    __slots__ = ("batch", "names")

    def __init__(self, batch: ColumnBatch, names: dict[Any, Any] | None = None) -> None:
        self.batch = batch
        self.names = names

    def column(self, key: Any) -> ColumnVector:
        return self.batch.column(key if self.names is None else self.names[key])

    def steps(self, key: Any) -> list[tuple[Any, float]]:
        return self.batch.steps(key if self.names is None else self.names[key])

    def take(self, positions: Any) -> BatchPart:
        return BatchPart(self.batch.take(positions), self.names)


def renamed(batch: ColumnBatch, names: dict[Any, Any]) -> ColumnBatch:
    """The rows of a batch under other keys: ``names`` maps the new ones to those of the batch."""
    return ColumnBatch(batch.count, dict.fromkeys(names, BatchPart(batch, names)))


def of_vectors(count: int, vectors: dict[Any, ColumnVector], ordinals: Any = None) -> ColumnBatch:
    """A batch of columns that exist already."""
    part = StoredColumns(vectors)
    return ColumnBatch(count, dict.fromkeys(vectors, part), ordinals)
