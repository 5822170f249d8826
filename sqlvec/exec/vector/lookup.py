"""The built side of a join: key values -> the rows that have them.

Integer keys in a dense range use a *direct address* table, all others a :class:`KeySet`.  Rows of one key are kept in their order::

    id of the key -> start, count -> rows[start : start + count]

A key that occurs once in the built side (a primary key) needs no such list: the id leads to its row at once.
"""
from __future__ import annotations

from sqlvec.columnar.dictionary import KeySet
from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import INTEGER, REAL, ColumnVector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.exec.vector.join_keys import InnerKeys

_ROOM = 1 << 20
_MOST_ROOM = 1 << 25


class Lookup:
    """Built from key vectors of ``count`` rows; ``probes`` is about how often it will be asked (a big direct table pays for many)."""

    def __init__(self, vectors: list[ColumnVector], count: int, keys: InnerKeys, probes: int = 0) -> None:
        self._room = max(_ROOM, 8 * count, min(8 * probes, _MOST_ROOM))
        self._kinds = [term.kind for term in keys.terms]
        self._collations = keys.collations
        self._direct: Any = None
        self._low = 0
        self._keys: KeySet | None = None
        vectors = [vector.flat() for vector in vectors]
        rows = self._matching(vectors, count)
        if rows is not None:
            vectors = [vector.take(rows).settled() for vector in vectors]
            count = len(rows)
        ids = self._build(vectors, count)
        self._group(ids, rows, count)

    def _matching(self, vectors: list[ColumnVector], count: int) -> Any:
        """Rows whose '=' keys are all not NULL; None for all rows."""
        mask: Any = None
        for vector, kind in zip(vectors, self._kinds, strict=True):
            null = vector.null_mask() if kind == "=" else None
            if null is True:
                return np.zeros(0, np.int64)
            if null is not None:
                mask = null if mask is None else mask | null
        return None if mask is None else np.flatnonzero(~mask)

    def _build(self, vectors: list[ColumnVector], count: int) -> Any:
        """Ids (from 1) of the built rows."""
        if len(vectors) == 1 and count and type(vectors[0].tags) is int and vectors[0].tags == INTEGER:
            values = vectors[0].flat().bits
            low, high = int(values.min()), int(values.max())
            if high - low < self._room:
                self._low = low
                self._direct = np.zeros(high - low + 2, np.int32)
                places = values - low
                self._direct[places] = 1
                used = np.flatnonzero(self._direct)
                self._direct[used] = np.arange(1, len(used) + 1, dtype=np.int32)
                return self._direct.take(places)
        self._keys = KeySet(self._collations)
        return self._keys.add(vectors, count) if count else np.zeros(0, np.int64)

    def _group(self, ids: Any, rows: Any, count: int) -> None:
        counts = np.bincount(ids, minlength=2) if count else np.zeros(2, np.int64)
        self._counts = counts
        self.is_unique = bool(int(counts.max()) <= 1)
        if self.is_unique:
            self._row_of_id = np.zeros(len(counts), np.int64)
            self._row_of_id[ids] = np.arange(count, dtype=np.int64) if rows is None else rows
            return
        # (None: equal keys are adjacent as they are, which an index gives; a list would only take memory)
        self._rows = rows
        if not (count and (ids[1:] >= ids[:-1]).all()):
            order = np.argsort(ids, kind="stable")
            self._rows = order if rows is None else rows.take(order)
        self._starts = np.cumsum(counts) - counts

    # --- looking up ------------------------------------------------------------------------------------------------------------

    def ids(self, vectors: list[ColumnVector], count: int) -> Any:
        """The id of each probing row, 0 where no built row matches."""
        if self._direct is not None:
            return self._direct_ids(vectors[0], count)
        assert self._keys is not None
        flats = [vector.flat() for vector in vectors]
        ids = self._keys.find(flats, count)
        for vector, kind in zip(flats, self._kinds, strict=True):
            null = vector.null_mask() if kind == "=" else None
            if null is True:
                return np.zeros(count, np.int64)
            if null is not None:
                ids[null] = 0
        return ids

    def _direct_ids(self, vector: ColumnVector, count: int) -> Any:
        vector = vector.flat()
        tags = vector.tags
        if type(tags) is int and tags == INTEGER:
            return self._at(vector.bits)
        out = np.zeros(count, np.int64)
        all_tags = vector.tag_array()
        rows = np.flatnonzero(all_tags == INTEGER)
        out[rows] = self._at(vector.bits.take(rows))
        rows = np.flatnonzero(all_tags == REAL)
        if len(rows):
            doubles = vector.reals.take(rows)
            inside = (doubles >= -9.2e18) & (doubles <= 9.2e18)
            whole = np.where(inside, doubles, 0.0).astype(np.int64)
            good = inside & (whole == doubles)
            out[rows[good]] = self._at(whole[good])
        return out

    def _at(self, values: Any) -> Any:
        places = values - self._low
        size = len(self._direct) - 1
        outside = (places < 0) | (places >= size)
        if outside.any():
            return self._direct.take(np.where(outside, size, places))
        return self._direct.take(places)

    def pairs(self, vectors: list[ColumnVector], count: int) -> tuple[Any, Any]:
        """(probing rows, built rows) of all matches, ordered by probing row, then built order."""
        ids = self.ids(vectors, count)
        if self.is_unique:
            probing = np.flatnonzero(ids)
            if len(probing) < count:
                ids = ids.take(probing)
            return probing, self._row_of_id.take(ids)
        counts = self._counts.take(ids)
        counts[ids == 0] = 0
        probing = np.repeat(np.arange(count, dtype=np.int64), counts)
        if not len(probing):
            return probing, probing
        first = np.cumsum(counts) - counts
        offset = np.repeat(self._starts.take(ids) - first, counts)
        offset += np.arange(len(probing), dtype=np.int64)
        return probing, offset if self._rows is None else self._rows.take(offset)



