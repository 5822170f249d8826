"""Running aggregates over groups: vectors in, one value per group out.

An accumulator takes ``step(ids, vector, groups)``: the group id of each row (0-based, all below ``groups``) and the argument; rows of one group come in
plan order.  ``result(groups)`` gives the vector of all groups.

Exactness, which is the point of this module:

1. A sum of reals is the plain left-to-right double addition of its rows.  ``np.add.at`` and ``np.bincount`` add in row order; accumulators go on
   from batch to batch with the running value as the first summand.  ``np.sum`` (pairwise) is never used.
2. Integers are summed as integers, and as doubles too once the running sums could leave the doubles that are exact.  A sum that could leave
   64 bits raises :class:`NeedsRows`: only the row engine knows at which row "integer overflow" would appear.
3. min and max keep the earliest of equal values, and keep it in its own storage class.
"""
from __future__ import annotations

from sqlvec.columnar.kernels.compare import compare
from sqlvec.columnar.kernels.text import prefix_words, words_at
from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import INTEGER, NULL, REAL, TEXT, ColumnVector, concatenate, constant, integers, merge, nulls, reals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_EXACT = 1 << 53
_OVERFLOW = 1 << 63
_FEW = 64


class NeedsRows(Exception):
    """This aggregate must be computed row by row."""


def grown(array: Any, size: int) -> Any:
    """``array`` with at least ``size`` elements, zeros at the end."""
    if len(array) >= size:
        return array
    bigger = np.zeros(max(size, 2 * len(array)), array.dtype)
    bigger[:len(array)] = array
    return bigger


def add_reals(totals: Any, ids: Any, values: Any, groups: int) -> None:
    """``totals[id] += value``, row by row in order."""
    if groups == 1:
        # one chain of additions that begins with the running value
        chain = np.empty(len(values) + 1)
        chain[0] = totals[0]
        chain[1:] = values
        totals[0] = np.add.accumulate(chain, out=chain)[-1]
    elif groups <= _FEW:
        first = np.arange(groups, dtype=np.int64)
        totals[:groups] = np.bincount(np.concatenate([first, ids]), np.concatenate([totals[:groups], values]), groups)
    else:
        np.add.at(totals, ids, values)


class SharedCounts:
    """The number of rows of each group in one batch, for all accumulators that see the same ids."""

    __slots__ = ("counts", "groups", "ids")

    def __init__(self) -> None:
        self.ids: Any = None
        self.groups = 0
        self.counts: Any = None

    def of(self, ids: Any, groups: int) -> Any:
        if self.ids is not ids or self.groups != groups:
            self.ids, self.groups = ids, groups
            self.counts = np.bincount(ids, minlength=groups)
        return self.counts


_shared = SharedCounts()


def count_rows(counts: Any, ids: Any, groups: int) -> None:
    """``counts[id] += 1``."""
    if groups == 1:
        counts[0] += len(ids)
    elif groups <= 4 * len(ids):
        counts[:groups] += _shared.of(ids, groups)
    else:
        np.add.at(counts, ids, 1)


class Count:
    """count(*) and count(x)."""

    def __init__(self) -> None:
        self.counts = np.zeros(16, np.int64)

    def step(self, ids: Any, vector: ColumnVector | None, groups: int) -> None:
        self.counts = grown(self.counts, groups)
        if vector is not None:
            null = vector.null_mask()
            if null is True:
                return
            if null is not None:
                ids = ids[~null]
        count_rows(self.counts, ids, groups)

    def result(self, groups: int) -> ColumnVector:
        self.counts = grown(self.counts, groups)
        return integers(self.counts[:groups].copy())


class Sum:
    """The running state of sum, total and avg of one argument (they share it)."""

    def __init__(self) -> None:
        self.counts = np.zeros(16, np.int64)
        self.whole = np.zeros(16, np.int64)
        self.real = np.zeros(16, np.float64)
        self.is_real = np.zeros(16, bool)         # a real was added to this group (kept once an integer has come)
        self.bound = 0                            # no running integer sum is beyond this
        self.in_reals = False                     # ``real`` is kept up to date
        self.any_whole = False

    def step(self, ids: Any, vector: ColumnVector, groups: int) -> None:
        if len(self.counts) < groups:
            for name in ("counts", "whole", "real", "is_real"):
                setattr(self, name, grown(getattr(self, name), groups))
        tags = vector.tags
        if type(tags) is not int:
            rows = np.flatnonzero(tags != NULL)
            if len(rows) < len(tags):
                vector, ids = vector.take(rows), ids.take(rows)
            vector = vector.settled()
            tags = vector.tags
        elif tags == NULL:
            return
        if not len(ids):
            return
        vector = vector.flat()
        if type(tags) is int and tags == REAL:
            self._reals(ids, vector.reals, groups)
        elif type(tags) is int and tags == INTEGER:
            self._integers(ids, vector.bits, groups)
        elif not (tags >= TEXT if type(tags) is int else (tags >= TEXT).any()):
            self._mixed(ids, vector, groups)
        else:
            raise NeedsRows
        count_rows(self.counts, ids, groups)

    def _reals(self, ids: Any, values: Any, groups: int) -> None:
        self._keep_reals()
        add_reals(self.real, ids, values, groups)
        if self.any_whole:
            self.is_real[ids] = True

    def _note_whole(self) -> None:
        """An integer arrives; so far every group with a value has reals only."""
        if not self.any_whole:
            self.any_whole = True
            self.is_real = self.counts > 0

    def _integers(self, ids: Any, values: Any, groups: int) -> None:
        largest = max(abs(int(values.max())), abs(int(values.min())))
        bound = self.bound + largest * len(values)
        if bound >= _EXACT:
            self._keep_reals()
        if bound >= _OVERFLOW:
            raise NeedsRows
        self.bound = bound
        self._note_whole()
        if groups == 1:
            self.whole[0] += values.sum()
        else:
            np.add.at(self.whole, ids, values)
        if self.in_reals:
            add_reals(self.real, ids, values.astype(np.float64), groups)

    def _mixed(self, ids: Any, vector: ColumnVector, groups: int) -> None:
        self._keep_reals()
        is_real = vector.tags == REAL
        whole = np.flatnonzero(~is_real)
        own = vector.bits.take(whole)
        self.bound += max(abs(int(own.max())), abs(int(own.min()))) * len(own)
        if self.bound >= _OVERFLOW:
            raise NeedsRows
        self._note_whole()
        np.add.at(self.whole, ids.take(whole), own)
        add_reals(self.real, ids, np.where(is_real, vector.reals, vector.bits.astype(np.float64)), groups)
        self.is_real[ids[is_real]] = True

    def _keep_reals(self) -> None:
        """From now on sums are kept as doubles too; all integer sums so far are exact doubles."""
        if not self.in_reals:
            self.in_reals = True
            self.real[:] = self.whole

    def _reals_now(self, groups: int) -> Any:
        if len(self.counts) < groups:
            for name in ("counts", "whole", "real", "is_real"):
                setattr(self, name, grown(getattr(self, name), groups))
        return self.real[:groups] if self.in_reals else self.whole[:groups].astype(np.float64)

    def sum(self, groups: int) -> ColumnVector:
        doubles = self._reals_now(groups).copy()
        empty = self.counts[:groups] == 0
        if not self.any_whole:
            return reals(np.where(empty, np.nan, doubles))
        is_real = self.is_real[:groups]
        bits = np.where(is_real, doubles.view(np.int64), self.whole[:groups])
        bad = empty | (is_real & (doubles != doubles))
        tags = np.where(bad, np.uint8(NULL), np.where(is_real, np.uint8(REAL), np.uint8(INTEGER)))
        return ColumnVector(groups, tags, np.where(bad, 0, bits)).settled()

    def total(self, groups: int) -> ColumnVector:
        return reals(self._reals_now(groups).copy())

    def avg(self, groups: int) -> ColumnVector:
        doubles = self._reals_now(groups)
        counts = self.counts[:groups]
        return reals(np.where(counts == 0, np.nan, doubles / np.maximum(counts, 1)))


class Extreme:
    """min or max: one value per group, the first of equal ones, and the number of the row (counted by the caller) that it came from."""

    def __init__(self, is_min: bool, collation: str) -> None:
        self.operator = "<" if is_min else ">"
        self.collation = collation.upper()
        self.values: ColumnVector | None = None
        self.rows = np.zeros(0, np.int64)         # row number of the value, -1 none yet

    def step(self, ids: Any, vector: ColumnVector, groups: int, row_numbers: Any = None) -> None:
        """``row_numbers``: a number for each row, kept for the row that holds the extreme."""
        before = len(self.rows)
        if before < groups:
            fill = np.full(groups - before, -1, np.int64)
            self.rows = np.concatenate([self.rows, fill])
            empty = ColumnVector(groups - before, NULL, np.zeros(groups - before, np.int64))
            self.values = empty if self.values is None else concatenate([self.values, empty])
        null = vector.null_mask()
        if null is True:
            return
        vector = vector.flat()
        if null is not None:
            keep = np.flatnonzero(~null)
            ids, vector = ids.take(keep), vector.take(keep)
            if row_numbers is not None:
                row_numbers = row_numbers.take(keep)
        keep = self._contenders(ids, vector, groups)
        if keep is not None:
            if not len(keep):
                return
            ids, vector = ids.take(keep), vector.take(keep)
            if row_numbers is not None:
                row_numbers = row_numbers.take(keep)
        best_ids, best_rows = self._best_of_batch(ids, vector.settled())
        assert self.values is not None
        candidates = vector.take(best_rows).settled()
        better = self._better(candidates, self.values.take(best_ids))
        chosen = np.flatnonzero(better)
        if not len(chosen):
            return
        where = best_ids.take(chosen)
        rest = np.ones(groups, bool)
        rest[where] = False
        others = np.flatnonzero(rest)
        self.values = merge(groups, [(where, candidates.take(chosen).detached()), (others, self.values.take(others))]).detached()
        self.rows[where] = best_rows.take(chosen) if row_numbers is None else row_numbers.take(best_rows.take(chosen))

    def _contenders(self, ids: Any, vector: ColumnVector, groups: int) -> Any:
        """The rows that beat what their group holds (groups without a value: all rows), or None for all rows.

        Once some batches have been seen nearly no row does, and what follows looks at those few only."""
        values = self.values
        assert values is not None
        if values.null_mask() is True or len(ids) < _FEW:
            return None
        if groups == 1:
            held = ColumnVector(len(ids), values.tags, values.bits, values.length, values.heap, True)
            held = held if type(held.tags) is int else constant(values.value(0), len(ids))
        else:
            held = values.take(ids)
            if type(values.tags) is int and values.tags >= TEXT:
                held.prefix = prefix_words(values).take(ids)
        rows = np.flatnonzero(self._better(vector, held))
        return rows if len(rows) < len(ids) else None

    def _better(self, candidates: ColumnVector, held: ColumnVector) -> Any:
        true, unknown = compare(self.operator, candidates, held, self.collation)
        return true if unknown is None else true | unknown

    def _best_of_batch(self, ids: Any, vector: ColumnVector) -> tuple[Any, Any]:
        """(group ids, row of the extreme of each): a knock-out of neighbours, exact for every class."""
        if len(self.rows) == 1:
            rows = self._best_of_all(vector)
            if rows is not None:
                return ids[:len(rows)], rows
        order = np.argsort(ids, kind="stable")
        sorted_ids = ids.take(order)
        if type(vector.tags) is int and vector.tags < TEXT:
            return self._best_numbers(order, sorted_ids, vector)
        rows = order
        while True:
            same = np.flatnonzero(sorted_ids[1:] == sorted_ids[:-1])
            if not len(same):
                return sorted_ids, rows
            # pair rows 0-1, 2-3 ... inside each group; the later of a pair wins only if strictly better
            starts = np.concatenate([[0], np.flatnonzero(sorted_ids[1:] != sorted_ids[:-1]) + 1])
            lengths = np.diff(np.concatenate([starts, [len(sorted_ids)]]))
            place = np.arange(len(sorted_ids), dtype=np.int64) - np.repeat(starts, lengths)
            left = np.flatnonzero((place & 1) == 0)
            has_right = (place + 1 < np.repeat(lengths, lengths)).take(left)
            first = rows.take(left)
            pairs = np.flatnonzero(has_right)
            second = rows.take(left.take(pairs) + 1)
            wins, _ = compare(self.operator, vector.take(second), vector.take(first.take(pairs)), self.collation)
            first[pairs[wins]] = second[wins]
            rows = first
            sorted_ids = sorted_ids.take(left)

    def _best_of_all(self, vector: ColumnVector) -> Any:
        """The row of the extreme of one group (as an array of one, empty without rows), or None where classes are mixed."""
        if type(vector.tags) is not int or (vector.tags == TEXT and self.collation != "BINARY"):
            return None
        rows = np.arange(min(1, vector.count), dtype=np.int64)
        if vector.count < 2:
            return rows
        is_min = self.operator == "<"
        if vector.tags < TEXT:
            values = vector.reals if vector.tags == REAL else vector.bits
            rows[0] = values.argmin() if is_min else values.argmax()
            return rows
        words = prefix_words(vector)
        rows = np.flatnonzero(words == (words.min() if is_min else words.max()))
        lengths = vector.length_array()
        longest = int(lengths.max())
        number = 1
        while len(rows) > 1 and 8 * number < longest:
            words = words_at(vector, number, rows)
            rows = rows[words == (words.min() if is_min else words.max())]
            number += 1
        lengths = lengths.take(rows)                 # equal as far as bytes go: the shorter one is less
        return rows[lengths == (lengths.min() if is_min else lengths.max())][:1]

    def _best_numbers(self, order: Any, sorted_ids: Any, vector: ColumnVector) -> tuple[Any, Any]:
        values = (vector.reals if vector.tags == REAL else vector.bits).take(order)
        starts = np.concatenate([np.zeros(1, np.int64), np.flatnonzero(sorted_ids[1:] != sorted_ids[:-1]) + 1]) if len(order) else order
        if not len(order):
            return sorted_ids, order
        reduce = np.minimum if self.operator == "<" else np.maximum
        best = reduce.reduceat(values, starts)
        lengths = np.diff(np.concatenate([starts, [len(order)]]))
        hits = np.flatnonzero(values == np.repeat(best, lengths))
        group_of_hit = np.searchsorted(starts, hits, side="right") - 1
        first = np.concatenate([np.ones(1, bool), group_of_hit[1:] != group_of_hit[:-1]])
        return sorted_ids.take(starts), order.take(hits[first])

    def result(self, groups: int) -> ColumnVector:
        if len(self.rows) < groups:
            self.step(np.zeros(0, np.int64), ColumnVector(0, NULL, np.zeros(0, np.int64)), groups)
        return self.values if self.values is not None else nulls(groups)
