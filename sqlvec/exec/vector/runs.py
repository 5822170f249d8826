"""Sorting of more rows than fit the memory budget: sorted runs in a temporary file, and their merge.

An :class:`ExternalSort` takes blocks of rows (vectors by name).  What it holds beyond its share of the budget becomes a *run*: the rows in sorted
order, written in frames of a few thousand rows.  The merge holds a frame or two of each run: it sorts what it holds, and delivers up to the first row
that is the last one held of its run; rows behind that could still be overtaken.  Beyond ``MOST_RUNS`` runs all are merged into one.

Invariants:

1. The sort is stable: equal rows leave in the order in which they came.  Runs follow each other in arrival order, and all sorting here keeps that order.
2. No more is held than the share of the budget and a frame or two of each run.
"""
from __future__ import annotations

from sqlvec.columnar.numeric import np
from sqlvec.columnar.ordering import SortKey, sort_order
from sqlvec.columnar.vector import HEAP_SLACK, ColumnVector, concatenate
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

FRAME_ROWS = 4096
OUTPUT_ROWS = 8192
MOST_RUNS = 64
_SORTING = 88                                     # bytes that sorting takes per row, at its peak


def pack(vector: ColumnVector) -> tuple[list[Any], list[Any]]:
    """(header, buffers) of a vector that owns its text."""
    vector = vector.flat().detached() if vector.bits is None else vector.flat()
    tags = vector.tags if type(vector.tags) is int else -1
    length = vector.length
    kind = "none" if length is None else "one" if type(length) is int else "many"
    heap = vector.heap if vector.heap is not None else np.zeros(0, np.uint8)
    buffers = [np.ascontiguousarray(vector.bits), heap]
    if tags < 0:
        buffers.append(np.ascontiguousarray(vector.tags))
    if kind == "many":
        buffers.append(np.ascontiguousarray(length))
    return [vector.count, tags, kind, length if kind == "one" else 0, vector.heap is not None, len(buffers)], buffers


def unpack(header: list[Any], buffers: list[bytes]) -> ColumnVector:
    count, tags, kind, single, has_heap, _ = header
    bits = np.frombuffer(buffers[0], np.int64)
    heap = np.frombuffer(buffers[1] or bytes(HEAP_SLACK), np.uint8) if has_heap else None
    rest = buffers[2:]
    own_tags: Any = tags if tags >= 0 else np.frombuffer(rest.pop(0), np.uint8)
    length: Any = None if kind == "none" else single if kind == "one" else np.frombuffer(rest.pop(0), np.int64)
    return ColumnVector(count, own_tags, bits, length, heap)


def bytes_of(vector: ColumnVector) -> int:
    """About how much memory a detached vector takes."""
    if vector.is_constant:
        return 0
    total = 8 * vector.count
    if type(vector.tags) is not int:
        total += vector.count
    if vector.heap is not None and vector.bits is not None:
        total += len(vector.heap) + 8 * vector.count
    return total


def write_block(file: Any, names: list[Any], vectors: dict[Any, ColumnVector]) -> int:
    """Append some rows as one frame; returns its place."""
    headers = []
    buffers: list[Any] = []
    for name in names:
        header, own = pack(vectors[name])
        headers.append(header)
        buffers += own
    return file.write(headers, buffers)  # type: ignore[no-any-return]


def read_block(file: Any, names: list[Any], place: int) -> dict[Any, ColumnVector]:
    headers, buffers = file.read(place)
    found = {}
    at = 0
    for name, header in zip(names, headers, strict=True):
        found[name] = unpack(header, buffers[at:at + header[5]])
        at += header[5]
    return found


class Term:
    """What to sort by: a name among the vectors, direction, where NULLs go, collation."""

    __slots__ = ("collation", "descending", "name", "nulls_last")

    def __init__(self, name: Any, descending: bool = False, nulls_last: bool | None = None, collation: str = "BINARY") -> None:
        self.name = name
        self.descending = descending
        self.nulls_last = nulls_last
        self.collation = collation

    def key(self, vectors: dict[Any, ColumnVector]) -> SortKey:
        return SortKey(vectors[self.name], self.descending, self.nulls_last, self.collation)


class Run:
    """The frames of one run that were not read yet, and the rows that were read and not delivered."""

    __slots__ = ("count", "frames", "held")

    def __init__(self, frames: list[int]) -> None:
        self.frames = frames[::-1]
        self.held: dict[Any, ColumnVector] | None = None
        self.count = 0                            # rows held


class ExternalSort:
    """See the module text.  ``budget`` in bytes; ``names`` of the vectors that blocks have."""

    def __init__(self, names: list[Any], terms: list[Term], budget: int, directory: str) -> None:
        self.names = names
        self.terms = terms
        self.budget = budget
        self.directory = directory
        self.blocks: list[dict[Any, ColumnVector]] = []
        self.count = 0                            # rows in ``blocks``
        self.bytes = 0
        self.runs: list[Run] = []
        self._file: Any = None

    def add(self, block: dict[Any, ColumnVector], count: int) -> None:
        """Take ``count`` rows; their vectors own their text."""
        self.blocks.append(block)
        self.count += count
        self.bytes += sum(map(bytes_of, block.values())) + _SORTING * count
        if self.bytes > self.budget and self.names:
            self._write_run()

    def sorted(self) -> tuple[dict[Any, ColumnVector], Any]:
        """All rows held, as (vectors, their order); they aren't held any more."""
        blocks, self.blocks = self.blocks, []
        vectors = {name: concatenate([block.pop(name) for block in blocks]) for name in self.names}
        return vectors, sort_order([term.key(vectors) for term in self.terms], self.count)

    def _write_run(self) -> None:
        vectors, order = self.sorted()
        starts = range(0, len(order), FRAME_ROWS)
        self.runs.append(Run(self._frames({name: vector.take(order[start:start + FRAME_ROWS]) for name, vector in vectors.items()}
                                          for start in starts)))
        self.count = self.bytes = 0
        if len(self.runs) >= MOST_RUNS:
            old = self._file
            self._file = None
            frames = self._frames(self._merged(old))
            old.close()
            self.runs = [Run(frames)]

    def _frames(self, blocks: Any) -> list[int]:
        """Write blocks of rows; their places."""
        if self._file is None:
            self._file = resolve("sqlvec.exec.spill:SpillFile")(self.directory)
        return [write_block(self._file, self.names, {name: vector.detached() for name, vector in block.items()}) for block in blocks]

    def rows(self) -> Iterator[dict[Any, ColumnVector]]:
        """All rows in order, some thousands at a time.  Ends the sort."""
        if self._file is None:
            if self.count:
                vectors, order = self.sorted()
                for start in range(0, len(order), OUTPUT_ROWS):
                    rows = order[start:start + OUTPUT_ROWS]
                    yield {name: vector.take(rows) for name, vector in vectors.items()}
            return
        if self.count:
            self._write_run()
        try:
            yield from self._merged(self._file)
        finally:
            self.close()

    def _merged(self, file: Any) -> Iterator[dict[Any, ColumnVector]]:
        """The rows of all runs in one order."""
        runs = self.runs
        while runs:
            for run in runs:
                while run.frames and run.count < FRAME_ROWS // 2:
                    block = read_block(file, self.names, run.frames.pop())
                    count = next(iter(block.values())).count
                    if run.held is not None and run.count:
                        block = {name: concatenate([run.held[name], vector]) for name, vector in block.items()}
                    run.held = block
                    run.count += count
            vectors = {name: concatenate([run.held[name] for run in runs if run.held is not None]) for name in self.names}
            counts = np.array([run.count for run in runs], np.int64)
            order = sort_order([term.key(vectors) for term in self.terms], int(counts.sum()))
            ends = np.cumsum(counts)
            goes_on = np.flatnonzero([bool(run.frames) for run in runs])
            if len(goes_on):
                place = np.empty(len(order), np.int64)
                place[order] = np.arange(len(order), dtype=np.int64)
                order = order[:int(place.take(ends.take(goes_on) - 1).min()) + 1]
            for start in range(0, len(order), OUTPUT_ROWS):
                rows = order[start:start + OUTPUT_ROWS]
                yield {name: vector.take(rows) for name, vector in vectors.items()}
            taken = np.bincount(np.searchsorted(ends, order, side="right"), minlength=len(runs)).tolist()
            for run, gone in zip(runs, taken, strict=True):
                assert run.held is not None
                run.held = {name: vector.slice(gone, run.count) for name, vector in run.held.items()}
                run.count -= gone
            runs = [run for run in runs if run.count or run.frames]

    def close(self) -> None:
        """Give the temporary file up."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self.runs = []
        self.blocks = []


def block_of(names: list[Any], vectors: list[ColumnVector]) -> dict[Any, ColumnVector]:
    """Vectors that own their text, by name."""
    return {name: vector.detached() for name, vector in zip(names, vectors, strict=True)}


__all__ = ["ExternalSort", "Term", "block_of", "bytes_of"]
