"""Seeks for many keys at once.

A *seeker* finds the inner rows of a search for some hundreds or thousands of outer keys without reading the whole inner: the keys are sorted, the
leaves that can hold them are found by binary search in the leaf list, and those leaves are decoded together.

* :class:`RowidSeeker`: rowids -> rows of a table;
* :class:`IndexSeeker`: first key column -> index entries, matched on all key columns; columns that the index lacks are then fetched by rowid.

``pairs(key vectors, count)`` gives (outer rows, inner columns) ordered by outer row, then by index order; None where the keys aren't integers.
"""
from __future__ import annotations

from sqlvec.columnar.batch import ColumnBatch
from sqlvec.columnar.numeric import distinct, np
from sqlvec.columnar.vector import INTEGER, NULL, ColumnVector, concatenate
from sqlvec.exec.vector.lookup import Lookup
from sqlvec.exec.vector.scan import ScanPart, Source, table_scan_of
from sqlvec.pages.columns.batch_scan import IndexFetcher, TableFetcher
from sqlvec.plan import physical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.exec.program import Activation
    from sqlvec.exec.vector.join_keys import InnerKeys

    Pairs = tuple[Any, dict[Any, ColumnVector]] | None

ENTRIES_PER_LEAF = 200                            # about so many; they are looked up among the keys


def seeker_of(path: Any, keys: InnerKeys, numbers: list[int], activation: Activation) -> Any:
    """The seeker for a search path; ``numbers`` are the inner columns wanted."""
    if isinstance(path, physical.RowidSearch) and path.key is not None:
        return RowidSeeker(path, numbers, activation)
    if isinstance(path, physical.IndexSearch) and not path.table.without_rowid and not path.index.columns[0].descending:
        return IndexSeeker(path, keys, numbers, activation)
    return NoSeeker()


def _fetcher(kind: Any, source: Source, activation: Activation) -> Any:
    """A fetcher for the tree of a source; those of one tree share its leaf list."""
    name = (kind, id(source.pager), source.root)
    made = kind(source.pager, source.root, source.wishes, activation.slots.get(name))
    activation.slots[name] = made.known
    return made


class NoSeeker:
    """Nothing to seek with."""

    def pairs(self, vectors: list[ColumnVector], count: int) -> Pairs:
        return None


class RowFetch:
    """Columns of table rows by rowid, in the order asked for."""

    def __init__(self, path: Any, numbers: list[int], activation: Activation) -> None:
        self.source = Source(table_scan_of(path), activation, numbers)
        self.keys = [(path.source, number) for number in numbers]
        self._fetcher = _fetcher(TableFetcher, self.source, activation)

    def rows(self, rowids: Any) -> tuple[Any, dict[Any, ColumnVector]]:
        """(positions of ``rowids`` that exist, ascending; the columns of these rows)."""
        order = np.argsort(rowids, kind="stable")
        ascending = rowids.take(order)
        keys = self.keys
        places: list[Any] = []
        parts: dict[Any, list[ColumnVector]] = {key: [] for key in keys}
        for found, records in self._fetcher.batches(ascending):
            part = ScanPart(records, self.source.wish_of)
            places.append(order.take(found))
            for key in keys:
                parts[key].append(part.column(key).detached())
        if not places:
            return np.zeros(0, np.int64), {key: concatenate([]) for key in keys}
        where = np.concatenate(places)
        back = np.argsort(where, kind="stable")
        return where.take(back), {key: concatenate(vectors).take(back) for key, vectors in parts.items()}


def _integers(vector: ColumnVector) -> tuple[Any, Any] | None:
    """(rows that aren't NULL, their integers), or None where there is another class."""
    vector = vector.flat().settled()
    tags = vector.tags
    if type(tags) is int:
        if tags == INTEGER:
            return np.arange(vector.count, dtype=np.int64), vector.bits
        return (np.zeros(0, np.int64), np.zeros(0, np.int64)) if tags == NULL else None
    if ((tags != INTEGER) & (tags != NULL)).any():
        return None
    rows = np.flatnonzero(tags == INTEGER)
    return rows, vector.bits.take(rows)


class RowidSeeker:
    """A table searched by rowid."""

    def __init__(self, path: physical.RowidSearch, numbers: list[int], activation: Activation) -> None:
        self._fetch = RowFetch(path, numbers, activation)

    def pairs(self, vectors: list[ColumnVector], count: int) -> Pairs:
        known = _integers(vectors[0])
        if known is None:
            return None
        rows, rowids = known
        found, columns = self._fetch.rows(rowids)
        return rows.take(found), columns


class IndexSeeker:
    """A table searched by the first columns of an index, integers first."""

    def __init__(self, path: physical.IndexSearch, keys: InnerKeys, numbers: list[int], activation: Activation) -> None:
        self.keys = keys
        index, table = path.index, path.table
        stored = {column.column for column in index.columns}
        self.inside = [number for number in numbers if number in stored or number in (-1, table.rowid_column)]
        self.outside = [number for number in numbers if number not in self.inside]
        covering = physical.IndexSearch(path.source, path.label, table, index, covering=True)
        self.name = path.source
        self.source = Source(covering, activation, sorted({*self.inside, *keys.numbers, -1}))
        self._fetcher = _fetcher(IndexFetcher, self.source, activation)
        self._rows = RowFetch(path, self.outside, activation) if self.outside else None

    def pairs(self, vectors: list[ColumnVector], count: int) -> Pairs:
        if not self._fetcher.known.is_usable:
            return None
        known = _integers(vectors[0])
        if known is None:
            return None
        leaves = self._fetcher.leaves(distinct(known[1]))
        lookup = Lookup(vectors, count, self.keys, ENTRIES_PER_LEAF * len(leaves))
        outer_parts: list[Any] = []
        parts: dict[Any, list[ColumnVector]] = {(self.name, number): [] for number in {*self.inside, -1}}
        for records in self._fetcher.batches(leaves):
            if not records.count:
                continue
            batch = ColumnBatch(records.count, dict.fromkeys(self.source.wish_of, ScanPart(records, self.source.wish_of)))
            inner_rows, outer_rows = lookup.pairs([batch.column((self.name, number)) for number in self.keys.numbers], batch.count)
            if not len(inner_rows):
                continue
            chosen = batch.take(inner_rows)
            outer_parts.append(outer_rows)
            for key, blocks in parts.items():
                blocks.append(chosen.column(key).detached())
        if not outer_parts:
            empty = {(self.name, number): concatenate([]) for number in {*self.inside, *self.outside}}
            return np.zeros(0, np.int64), empty
        outer_rows = np.concatenate(outer_parts)
        order = np.argsort(outer_rows, kind="stable")
        outer_rows = outer_rows.take(order)
        columns = {key: concatenate(blocks).take(order) for key, blocks in parts.items()}
        if self._rows is not None:
            found, others = self._rows.rows(columns[self.name, -1].flat().bits)
            if len(found) < len(outer_rows):
                outer_rows = outer_rows.take(found)
                columns = {key: vector.take(found) for key, vector in columns.items()}
            columns.update(others)
        return outer_rows, columns


__all__ = ["IndexSeeker", "RowidSeeker", "seeker_of"]
