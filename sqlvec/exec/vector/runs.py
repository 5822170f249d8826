"""Sorted runs of rows in a temporary file, read back in step with a merge.

A sort beyond the memory budget writes what it holds as a *run*: its rows in sorted order, in frames of a few thousand rows.  Only the sort keys stay
in memory.  At the end one global order over all keys is computed; restricted to one run it goes forwards, so every run is read once from
front to back, a frame at a time.
"""
from __future__ import annotations

from sqlvec.columnar.numeric import distinct_small, np
from sqlvec.columnar.vector import HEAP_SLACK, ColumnVector, concatenate, merge
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FRAME_ROWS = 4096


def pack(vector: ColumnVector) -> tuple[list[Any], list[Any]]:
    """(header, buffers) of a vector that owns its text."""
    vector = vector.flat()
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
    total = 8 * vector.count
    if vector.heap is not None:
        total += len(vector.heap) + 8 * vector.count
    return total


class Run:
    """One sorted run: its frames and how far it has been read."""

    __slots__ = ("_file", "_frames", "_held", "_names", "count")

    def __init__(self, file: Any, names: list[Any], vectors: dict[Any, ColumnVector], order: Any) -> None:
        self._file = file
        self._names = names
        self._frames: list[int] = []
        self._held: dict[Any, ColumnVector] = {}
        self.count = len(order)
        for start in range(0, len(order), FRAME_ROWS):
            rows = order[start:start + FRAME_ROWS]
            headers = []
            buffers: list[Any] = []
            for name in names:
                header, own = pack(vectors[name].take(rows).detached())
                headers.append(header)
                buffers += own
            self._frames.append(file.write(headers, buffers))
        self._frames.reverse()

    def next(self, count: int) -> dict[Any, ColumnVector]:
        """The next ``count`` rows."""
        parts: dict[Any, list[ColumnVector]] = {name: [] for name in self._names}
        while count:
            if not self._held or not next(iter(self._held.values())).count:
                headers, buffers = self._file.read(self._frames.pop())
                self._held = {}
                at = 0
                for name, header in zip(self._names, headers, strict=True):
                    self._held[name] = unpack(header, buffers[at:at + header[5]])
                    at += header[5]
            have = next(iter(self._held.values())).count
            now = min(count, have)
            for name, vector in self._held.items():
                parts[name].append(vector.slice(0, now))
                self._held[name] = vector.slice(now, have)
            count -= now
        return {name: concatenate(blocks) for name, blocks in parts.items()}


class Runs:
    """The runs of one sort."""

    def __init__(self, directory: str, names: list[Any]) -> None:
        self._file = resolve("sqlvec.exec.spill:SpillFile")(directory)
        self._names = names
        self.runs: list[Run] = []

    def add(self, vectors: dict[Any, ColumnVector], order: Any) -> None:
        self.runs.append(Run(self._file, self._names, vectors, order))

    def rows(self, order: Any) -> dict[Any, ColumnVector]:
        """The rows at the next places of the global order (numbered run after run)."""
        ends = np.cumsum([run.count for run in self.runs])
        owner = np.searchsorted(ends, order, side="right")
        parts: dict[Any, list[tuple[Any, ColumnVector]]] = {name: [] for name in self._names}
        for number in distinct_small(owner):
            places = np.flatnonzero(owner == number)
            for name, vector in self.runs[number].next(len(places)).items():
                parts[name].append((places, vector))
        return {name: merge(len(order), blocks) for name, blocks in parts.items()}

    def close(self) -> None:
        self._file.close()
