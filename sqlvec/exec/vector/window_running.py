"""Aggregates over window frames that begin with the partition, and sums over frames of rows that slide.

A frame that begins with its partition has the value of the running aggregate at its last row: the running aggregate is computed for all rows
at once and picked from.  It is the row engine's own sequence of additions (``Layout.scan``), so that sums of reals agree bit for bit.

A sliding sum is the row engine's ``inverse`` and ``step`` sequence: for every row first what leaves is subtracted, then what enters is added.  That
sequence is laid out as one array of summands, and its running sum is read at the last summand of each row.

Integers are summed as integers; sums that could leave 64 bits go back to the row engine, which knows the row at which "integer overflow" appears.
"""
from __future__ import annotations

from sqlvec.columnar.numeric import np
from sqlvec.columnar.ordering import SortKey, sort_order
from sqlvec.columnar.vector import INTEGER, NULL, REAL, ColumnVector, integers, nulls, reals
from sqlvec.exec.vector.aggregate import numeric_argument
from sqlvec.exec.vector.decline import Restart
from sqlvec.exec.vector.window_layout import Layout, changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_EXACT = 1 << 53
_OVERFLOW = 1 << 63
_SIGN = -(1 << 63)                                # the bits of -0.0


class Frames:
    """The frames of one pass: ``starts``, ``ends``, whether all begin with their partition, and the offsets of frames of rows that slide."""

    def __init__(self, layout: Layout, unit: str, start: tuple[str, int | None], end: tuple[str, int | None]) -> None:
        self.layout = layout
        self.unit, self.start, self.end = unit, start, end
        self.starts, self.ends = layout.frame(unit, start, end)
        self.grows = start[0] == "UNBOUNDED PRECEDING"
        self.empty = self.ends <= self.starts
        self.has_empty = bool(self.empty.any())

    def last(self) -> Any:
        """The last row of each frame; for an empty one some row."""
        last = self.ends - 1
        return np.maximum(last, self.layout.first) if self.has_empty else last


def _present(vector: ColumnVector, condition: Any) -> Any:
    """Which rows are stepped: those that FILTER lets through and that are not NULL (None: all)."""
    null = vector.null_mask()
    if null is True:
        return np.zeros(vector.count, bool)
    if null is None:
        return condition
    return ~null if condition is None else condition & ~null


def count(frames: Frames, vector: ColumnVector | None, condition: Any) -> Any:
    """How many rows of each frame are stepped, as an array."""
    present = condition if vector is None else _present(vector, condition)
    if present is None:
        return np.maximum(frames.ends - frames.starts, 0)
    sums = np.zeros(frames.layout.count + 1, np.int64)
    np.cumsum(present, out=sums[1:])
    found = sums.take(frames.ends) - sums.take(frames.starts)
    return np.where(frames.empty, 0, found) if frames.has_empty else found


def run_count(frames: Frames, vector: ColumnVector | None, condition: Any) -> ColumnVector:
    return integers(count(frames, vector, condition))


class Sums:
    """sum, total and avg of one argument over all frames."""

    def __init__(self, frames: Frames, vector: ColumnVector, condition: Any) -> None:
        vector = numeric_argument(vector.flat()).flat().settled()
        self.frames = frames
        self.counts = count(frames, vector, condition)
        present = _present(vector, condition)
        tags = vector.tags
        if type(tags) is int:
            is_whole: Any = tags == INTEGER
            is_real: Any = tags == REAL
        else:
            is_whole, is_real = tags == INTEGER, tags == REAL
        if present is not None:
            is_whole, is_real = is_whole & present, is_real & present
        self.any_real = bool(np.any(is_real))
        self.any_whole = bool(np.any(is_whole))
        self.is_real = is_real
        self.whole = vector.bits if is_whole is True else np.where(is_whole, vector.bits, 0)
        self.doubles: Any = None
        if self.any_real:
            doubles = vector.reals if is_real is True else np.where(is_real, vector.reals, 0.0)
            # 0.0 + x, so that no running sum is ever -0.0 (nor is the row engine's)
            self.doubles = doubles + (self.whole.astype(np.float64) if self.any_whole else 0.0)
        largest = max(abs(int(self.whole.max())), abs(int(self.whole.min()))) if self.any_whole else 0
        self.bound = largest * frames.layout.longest
        if self.bound >= _OVERFLOW:
            raise Restart

    def _wholes(self) -> Any:
        """The sums as integers."""
        frames = self.frames
        sums = np.zeros(frames.layout.count + 1, np.int64)
        np.cumsum(self.whole, out=sums[1:])
        found = sums.take(frames.ends) - sums.take(frames.starts)        # exact: wrapping around cancels out
        return np.where(frames.empty, 0, found) if frames.has_empty else found

    def _reals(self) -> Any:
        """The sums as doubles, added in row order."""
        if not self.any_real and self.bound < _EXACT:
            return self._wholes().astype(np.float64)
        values = self.doubles if self.any_real else self.whole.astype(np.float64)
        frames = self.frames
        if frames.grows:
            found = frames.layout.scan(np.add, values).take(frames.last())
            return np.where(frames.empty, 0.0, found) if frames.has_empty else found
        return _sliding(frames, values)

    def sum(self) -> ColumnVector:
        none = self.counts == 0
        if not self.any_real:
            return ColumnVector(len(none), np.where(none, np.uint8(NULL), np.uint8(INTEGER)), np.where(none, 0, self._wholes())).settled()
        doubles = self._reals()
        if not self.any_whole:
            return reals(np.where(none, np.nan, doubles))
        # a sum stays real once a real has come, even if that has left the frame
        frames = self.frames
        come = np.zeros(frames.layout.count + 1, np.int64)
        np.cumsum(self.is_real, out=come[1:])
        real = come.take(np.maximum(frames.ends, frames.layout.first)) > come.take(frames.layout.first)
        bad = none | (real & (doubles != doubles))
        tags = np.where(bad, np.uint8(NULL), np.where(real, np.uint8(REAL), np.uint8(INTEGER)))
        bits = np.where(real, doubles.view(np.int64), self._wholes())
        return ColumnVector(len(none), tags, np.where(bad, 0, bits)).settled()

    def total(self) -> ColumnVector:
        return reals(self._reals())

    def avg(self) -> ColumnVector:
        return reals(np.where(self.counts == 0, np.nan, self._reals() / np.maximum(self.counts, 1)))


def _sliding(frames: Frames, values: Any) -> Any:
    """Sums over frames of rows (a PRECEDING or CURRENT ROW .. b rows on) as the row engine's sequence of subtractions and additions."""
    layout = frames.layout
    preceding = _distance(frames.start, layout.count, -1)
    following = _distance(frames.end, layout.count, 1)
    if preceding + following < 0:
        return np.zeros(layout.count)             # no frame holds anything
    rows, first, behind = layout.rows, layout.first, layout.behind
    # The row in whose turn each value enters or leaves; values entering together do so in their order.
    enters = np.maximum(rows - following, first)
    leaves = rows + (preceding + 1)
    entering, leaving = np.flatnonzero(enters < behind), np.flatnonzero(leaves < behind)
    turns = np.concatenate([2 * leaves.take(leaving), 2 * enters.take(entering) + 1])
    summands = np.concatenate([-values.take(leaving), values.take(entering)])
    order = np.argsort(turns, kind="stable")
    turns = turns.take(order) >> 1
    first = layout.first.take(turns)
    new = np.zeros(len(turns), bool)
    new[:1] = True
    new[1:] = first[1:] != first[:-1]
    running = Layout(new, new).scan(np.add, summands.take(order) + 0.0)
    last = np.searchsorted(turns, rows, side="right") - 1
    known = (last >= 0) & (first.take(np.maximum(last, 0)) == layout.first) if len(turns) else np.zeros(layout.count, bool)
    return np.where(known, running.take(np.maximum(last, 0)), 0.0) if len(turns) else np.zeros(layout.count)


def _distance(edge: tuple[str, int | None], limit: int, sign: int) -> int:
    """How many rows an edge lies before (sign -1) or behind (sign 1) the current row."""
    kind, offset = edge
    if kind == "UNBOUNDED FOLLOWING":
        return limit
    distance = min(offset or 0, limit)
    return sign * (distance if kind == "FOLLOWING" else -distance)


def run_extreme(frames: Frames, vector: ColumnVector, condition: Any, is_min: bool, collation: str) -> ColumnVector:
    """min or max over frames that begin with their partition; the first of equal values stays."""
    vector = vector.flat().settled()
    layout = frames.layout
    present = _present(vector, condition)
    none = count(frames, vector, condition) == 0
    if none.all():
        return nulls(layout.count)
    operation = np.minimum if is_min else np.maximum
    last = frames.last()
    tags = vector.tags
    if type(tags) is int or set(np.flatnonzero(np.bincount(tags, minlength=5)).tolist()) == {NULL, INTEGER}:
        tag = tags if type(tags) is int else INTEGER
        if tag == INTEGER:
            worst = np.iinfo(np.int64).max if is_min else np.iinfo(np.int64).min
            values = vector.bits if present is None else np.where(present, vector.bits, worst)
            return _numbers(INTEGER, layout.scan(operation, values).take(last), none)
        if tag == REAL and not (vector.bits == _SIGN).any():
            values = vector.reals if present is None else np.where(present, vector.reals, np.inf if is_min else -np.inf)
            return _numbers(REAL, layout.scan(operation, values).take(last).view(np.int64), none)
    ranks = _ranks(vector, collation)
    # the place in the order of values, and among equal values the row: the earliest is the best
    size = layout.count
    keys = ranks * size + (layout.rows if is_min else size - 1 - layout.rows)
    if present is not None:
        keys = np.where(present, keys, np.iinfo(np.int64).max if is_min else -1)
    best = np.where(none, 0, layout.scan(operation, keys).take(last)) % size
    chosen = vector.take(best if is_min else size - 1 - best)
    if none.any():
        chosen = ColumnVector(size, np.where(none, np.uint8(NULL), chosen.tags), np.where(none, 0, chosen.bits), chosen.length, chosen.heap)
    return chosen.settled()


def _numbers(tag: int, bits: Any, none: Any) -> ColumnVector:
    if not none.any():
        return ColumnVector(len(bits), tag, bits)
    return ColumnVector(len(bits), np.where(none, np.uint8(NULL), np.uint8(tag)), np.where(none, 0, bits))


def _ranks(vector: ColumnVector, collation: str) -> Any:
    """Each value's place in the order of the distinct values."""
    order = sort_order([SortKey(vector, False, None, collation)], vector.count)
    ranks = np.empty(vector.count, np.int64)
    ranks[order] = np.cumsum(changes([vector.take(order)], [collation], vector.count))
    return ranks


__all__ = ["Frames", "Sums", "run_count", "run_extreme"]
