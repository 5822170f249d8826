"""Partitions, peers and frames of some rows that are in window order, as arrays with an element per row.

A :class:`Layout` describes whole partitions, one behind the other.  All positions are places among the rows of the layout, so that a frame
is a pair of arrays (``starts``, ``ends``), half open.  A frame that holds nothing has its end at or before its start.

``scan`` runs an accumulation (np.add, np.minimum ...) from row to row, anew in every partition.  Rows are added strictly in order, which is what sums of
reals need: long partitions go through ``accumulate`` one by one, short ones all at once, place by place.

Follows "Window Functions" (frame specifications) of the manual.
"""
from __future__ import annotations

from sqlvec.columnar.kernels.compare import compare
from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import ColumnVector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SHORT = 48                                       # partitions up to this length are scanned side by side


def changes(vectors: list[ColumnVector], collations: list[str], count: int) -> Any:
    """Where a row differs from the row before it in any of the vectors; the first row does."""
    changed = np.zeros(count, bool)
    if count:
        changed[0] = True
    for vector, collation in zip(vectors, collations, strict=True):
        if count > 1 and not vector.is_constant:
            vector = vector.flat()
            changed[1:] |= compare("IS NOT", vector.slice(1, count), vector.slice(0, count - 1), collation)[0]
    return changed


def changes_after(last: list[ColumnVector], vectors: list[ColumnVector], collations: list[str]) -> Any:
    """The same for rows that follow the row ``last``."""
    changed = changes(vectors, collations, vectors[0].count)
    changed[0] = any(not compare("IS", vector.slice(0, 1), before, collation)[0][0]
                     for vector, before, collation in zip(vectors, last, collations, strict=True))
    return changed


def _runs(changed: Any) -> tuple[Any, Any, Any]:
    """(starts of the runs with the number of rows at the end, first row and row behind the run of each row)."""
    starts = np.append(np.flatnonzero(changed), len(changed))
    lengths = np.diff(starts)
    return starts, np.repeat(starts[:-1], lengths), np.repeat(starts[1:], lengths)


class Layout:
    """``first`` and ``behind``: where the partition of each row begins and ends; ``peer_first`` and ``peer_behind``: the same for its peers."""

    def __init__(self, new_partition: Any, new_peers: Any) -> None:
        self.count = len(new_partition)
        self.partitions, self.first, self.behind = _runs(new_partition)
        self.rows = np.arange(self.count, dtype=np.int64)
        new_peers = new_peers | new_partition
        self.groups, self.peer_first, self.peer_behind = _runs(new_peers)
        self.group = np.cumsum(new_peers) - 1     # peer group of each row, counted through all partitions
        self.longest = int(np.diff(self.partitions).max()) if self.count else 0

    def frame(self, unit: str, start: tuple[str, int | None], end: tuple[str, int | None]) -> tuple[Any, Any]:
        """(starts, ends) of all frames; offsets are whole numbers of rows or of groups."""
        return self._positions(unit, start, False), self._positions(unit, end, True)

    def _positions(self, unit: str, edge: tuple[str, int | None], is_end: bool) -> Any:
        kind, offset = edge
        if kind == "UNBOUNDED PRECEDING":
            return self.first
        if kind == "UNBOUNDED FOLLOWING":
            return self.behind
        if kind == "CURRENT ROW" and unit != "ROWS":
            return self.peer_behind if is_end else self.peer_first
        distance = min(offset or 0, self.count)
        if kind == "PRECEDING":
            distance = -distance
        if unit == "ROWS":
            return np.minimum(np.maximum(self.rows + (distance + is_end), self.first), self.behind)
        group = self.group + (distance + is_end)
        low, high = self.group.take(self.first), self.group.take(self.behind - 1) + 1
        return self.groups.take(np.minimum(np.maximum(group, low), high))

    def scan(self, operation: Any, values: Any) -> Any:
        """The running result of ``operation`` over the rows of each partition."""
        starts, ends = self.partitions[:-1], self.partitions[1:]
        out = np.empty_like(values)
        lengths = ends - starts
        is_long = lengths > _SHORT
        for start, end in zip(starts[is_long].tolist(), ends[is_long].tolist(), strict=True):
            operation.accumulate(values[start:end], out=out[start:end])
        starts, lengths = starts[~is_long], lengths[~is_long]
        if not len(starts):
            return out
        by_length = np.argsort(-lengths, kind="stable")
        starts, lengths = starts.take(by_length), lengths.take(by_length)
        running = values.take(starts)
        out[starts] = running
        for place in range(1, int(lengths[0])):
            active = int(np.searchsorted(-lengths, -place, side="left"))       # the partitions longer than ``place``
            rows = starts[:active] + place
            running = operation(running[:active], values.take(rows))
            out[rows] = running
        return out

    def differences(self, values: Any) -> Any:
        """Running sums of integers in each partition (in 64 bits that wrap around; the caller knows that the result fits)."""
        sums = np.cumsum(values)
        before = np.zeros(len(self.partitions) - 1, sums.dtype)
        before[1:] = sums.take(self.partitions[1:-1] - 1)
        return sums - np.repeat(before, np.diff(self.partitions))


__all__ = ["Layout", "changes", "changes_after"]
