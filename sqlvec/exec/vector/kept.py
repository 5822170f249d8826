"""Outer rows held over batches.

A join step collects outer rows before it chooses its strategy, and costly conditions want many rows at once.  Of a row that is held

* columns that stand in pages are gathered now, their text copied out of the page heap;
* columns of the built inner side of an earlier step (``BuiltColumns``) stay where they are, since that step keeps them in memory anyway: only
  the row's place among them is noted.  Most held rows never meet a partner, and then nobody has copied the texts that came with them.
"""
from __future__ import annotations

from sqlvec.columnar.batch import BatchPart, ColumnBatch, StoredColumns
from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import NULL, ColumnVector, concatenate
from sqlvec.exec.vector.runs import bytes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any


BATCH_ROWS = 16_384


class BuiltColumns(StoredColumns):
    """Columns of an inner side that its step holds as long as it runs."""

    __slots__ = ()


class NullableColumns(StoredColumns):
    """Stored columns where position -1 is a row of NULLs."""

    __slots__ = ()

    def column(self, key: Any) -> ColumnVector:
        vector = self.vectors[key]
        positions = self.positions
        missing = positions < 0
        if not vector.count:
            return ColumnVector(len(positions), NULL, np.zeros(1, np.int64), None, None, True)
        if not missing.any():
            return vector.take(positions)
        flat = vector.take(np.where(missing, 0, positions)).flat()
        return ColumnVector(flat.count, np.where(missing, np.uint8(NULL), flat.tags).astype(np.uint8), flat.bits, flat.length, flat.heap)


class NullableBuiltColumns(NullableColumns):
    """:class:`BuiltColumns` where position -1 is a row of NULLs."""

    __slots__ = ()


class _Block:
    """The held rows of one batch: ``own`` vectors by key; ``placed``: for a key, the part that has it; parts are shared by their keys."""

    __slots__ = ("count", "own", "placed")

    def __init__(self, batch: ColumnBatch, keys: Iterable[Any]) -> None:
        self.count = batch.count
        self.own: dict[Any, ColumnVector] = {}
        self.placed: dict[Any, StoredColumns] = {}
        known: dict[Any, StoredColumns] = {}
        for key in keys:
            part, chain = _origin(batch, key)
            if part is None:
                self.own[key] = batch.column(key).detached()
                continue
            name = (id(part), *map(id, chain))
            if name not in known:
                known[name] = _placed(part, chain)
            self.placed[key] = known[name]

    def bytes(self) -> int:
        parts = {id(part): part for part in self.placed.values()}
        return sum(map(bytes_of, self.own.values())) + sum(part.positions.nbytes for part in parts.values() if part.positions is not None)

    def batch(self) -> ColumnBatch:
        parts: dict[Any, Any] = dict.fromkeys(self.own, StoredColumns(self.own))
        parts.update(self.placed)
        return ColumnBatch(self.count, parts)


def _origin(batch: ColumnBatch, key: Any) -> tuple[Any, list[Any]]:
    """(the built part that a column comes from or None, the choices of rows on the way to it, the last one first)."""
    chain: list[Any] = []
    while True:
        part, choices = batch.origin(key)
        chain += choices
        if isinstance(part, BatchPart) and part.names is None:
            batch = part.batch
        else:
            return (part if isinstance(part, (BuiltColumns, NullableBuiltColumns)) else None), chain


def _placed(part: StoredColumns, chain: list[Any]) -> StoredColumns:
    """The rows of a part that are left after some choices."""
    if not chain:
        return part
    positions = chain[0]
    for choice in chain[1:]:
        positions = choice.take(positions)
    return part.take(positions)


class KeptRows:
    """Held rows: ``count`` of them with the columns ``keys``, which take about ``size`` bytes."""

    __slots__ = ("blocks", "count", "keys", "size")

    def __init__(self, keys: Iterable[Any]) -> None:
        self.keys = list(keys)
        self.blocks: list[_Block] = []
        self.count = 0
        self.size = 0

    def add(self, batch: ColumnBatch) -> None:
        block = _Block(batch, self.keys)
        self.blocks.append(block)
        self.count += block.count
        self.size += block.bytes()

    def batches(self) -> Iterator[ColumnBatch]:
        """The rows in batches of some size, however few of them each block has; blocks are let go when they are handed out."""
        blocks: list[_Block] = []
        count = 0
        self.blocks.reverse()
        while self.blocks:
            blocks.append(self.blocks.pop())
            count += blocks[-1].count
            if count >= BATCH_ROWS or not self.blocks:
                yield self._joined(blocks, count)
                blocks, count = [], 0

    def whole(self) -> ColumnBatch:
        """All rows as one batch."""
        return self._joined(self.blocks, self.count)

    def _joined(self, blocks: list[_Block], count: int) -> ColumnBatch:
        """The rows of some blocks as one batch."""
        if len(blocks) == 1:
            return blocks[0].batch()
        own: dict[Any, ColumnVector] = {}
        parts: dict[Any, Any] = {}
        known: dict[Any, StoredColumns] = {}
        for key in self.keys:
            found = [block.placed.get(key) for block in blocks]
            first = found[0]
            if first is None or any(part is None or part.vectors is not first.vectors or part.positions is None for part in found):
                own[key] = concatenate([block.own[key] if part is None else part.column(key) for block, part in zip(blocks, found, strict=True)])
                continue
            name = tuple(map(id, found))
            if name not in known:
                kind = NullableBuiltColumns if any(isinstance(part, NullableColumns) for part in found) else BuiltColumns
                known[name] = kind(first.vectors, np.concatenate([part.positions for part in found]))  # type: ignore[union-attr]
            parts[key] = known[name]
        parts.update(dict.fromkeys(own, StoredColumns(own)))
        return ColumnBatch(count, parts)


__all__ = ["BuiltColumns", "KeptRows", "NullableBuiltColumns", "NullableColumns"]
