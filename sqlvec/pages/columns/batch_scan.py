"""Reading a whole tree in batches of rows whose columns are gathered when asked for.

::

    scan = table_scan(pager, root, wishes)
    for batch in scan:                   RecordBatch
        keep = ... batch.column(0) ...   a ColumnVector, gathered now and kept
        batch.take(keep).column(3)       gathered for the survivors only

Batches ramp: the first few leaves, then more and more up to ``MAX_PAGES``, so that a query that stops early has read little.

Invariants:

1. A batch's vectors point into the batch's heap: see invariant 2 of columnar/vector.py.
2. Rows come in key order; ``first_ordinal`` counts all rows of the scan.
3. Page bytes come from the pager only, under the caller's read lock.
"""
from __future__ import annotations

from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import HEAP_SLACK, INTEGER, ColumnVector
from sqlvec.pages.columns.column_gather import BLOB_CODE, FieldWish, ShapeReader, gather
from sqlvec.pages.columns.index_leaf_decode import decode_index_leaves
from sqlvec.pages.columns.leaf_decode import Chunk, Unreadable, decode_table_leaves
from sqlvec.pages.columns.tree_walk import TableLeaves, index_leaves, table_leaves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.pages.columns.column_gather import Shaped
    from sqlvec.pages.page import Layout

FIRST_PAGES = 8
MAX_PAGES = 512
ROWID_WISH = -1
_GAPS = 4                          # pages for each foreign one that may be read along with them
SEGMENT_COST = 3.0                 # measured, in units of gathering one number
TEXT_COST = 2.5


class PageReader:
    """What a scan needs of a pager: pages into numpy heaps."""

    __slots__ = ("layout", "page_count", "pager", "read_overflow")

    def __init__(self, pager: Any) -> None:
        self.pager = pager
        self.layout: Layout = pager.layout
        self.page_count = pager.page_count
        self.read_overflow = pager.read_overflow

    def page(self, page_no: int) -> bytes:
        return bytes(self.pager.get(page_no))

    def read(self, pages: Any) -> tuple[Any, Any]:
        """(a new heap that holds these pages, the offset of each in it).

        Pages that lie nearly together (a table whose indexes grew along with it) are read as one span, with what is between them."""
        page_size = self.layout.page_size
        count = len(pages)
        first = int(pages[0])
        span = int(pages[-1]) - first + 1
        if count <= span <= count + count // _GAPS and (pages[1:] > pages[:-1]).all():
            firsts, counts, bases = [first], [span], (pages - first) * page_size
        else:
            ends = np.flatnonzero(np.append(pages[1:] != pages[:-1] + 1, True)) + 1
            lengths = np.diff(ends, prepend=0)
            firsts, counts = pages.take(ends - lengths).tolist(), lengths.tolist()
            bases = np.arange(0, count * page_size, page_size, dtype=np.int64)
        size = sum(counts) * page_size
        heap = np.empty(size + HEAP_SLACK, np.uint8)
        heap[size:] = 0
        self.pager.read_runs_into(firsts, counts, memoryview(heap)[:size])  # type: ignore[arg-type]
        return heap, bases


class RecordBatch:
    """Some rows of a chunk; columns are gathered at first use.  ``rows`` are positions in the chunk (None = all of them).

    A batch made by :meth:`take` looks to its ``parent`` for what that has already: shapes of segments, columns, rowids."""

    __slots__ = ("_columns", "_heads", "_rowids", "_shaped", "chunk", "count", "first_ordinal", "parent", "positions", "rows", "shapes")

    def __init__(self, chunk: Chunk, shapes: ShapeReader, first_ordinal: int, count: int) -> None:
        self.chunk = chunk
        self.shapes = shapes
        self.first_ordinal = first_ordinal
        self.count = count
        self.rows: Any = None
        self.parent: RecordBatch | None = None
        self.positions: Any = None
        self._columns: dict[int, ColumnVector] = {}
        self._rowids: Any = None
        self._heads: dict[int, tuple[Any, Any, Any]] = {}
        self._shaped: dict[int, Shaped] = {}

    def column(self, number: int) -> ColumnVector:
        """The wish ``number`` for all rows of the batch; ROWID_WISH is the rowid."""
        found = self._columns.get(number)
        if found is None:
            if self.parent is not None and number in self.parent._columns:
                found = self.parent._columns[number].take(self.positions)
            elif number == ROWID_WISH:
                found = ColumnVector(self.count, INTEGER, self.rowids())
            else:
                wish = self.shapes.wishes[number]
                segment, place = self.shapes.segment_of[wish.field]
                shaped = self._segment(segment)
                found = gather(self.chunk.heap, self._head(segment)[1], shaped.ids, shaped.tables[place], wish)
            self._columns[number] = found
        return found

    def steps(self, number: int) -> list[tuple[Any, float]]:
        """What gathering a wish takes, as (step, cost) pairs in units of one gathered number: the segments up to its own, then the field.
        Wishes share steps, and a step that was done costs nothing the second time."""
        if number == ROWID_WISH:
            return []
        field = self.shapes.wishes[number].field
        segment, place = self.shapes.segment_of[field]
        steps: list[tuple[Any, float]] = [((segment, None), SEGMENT_COST) for segment in range(segment + 1)]
        present = self.shapes.segments[segment].tables[place].present
        steps.append(((segment, place), TEXT_COST if present and max(present) >= BLOB_CODE else 1.0))
        return steps

    def _head(self, number: int) -> tuple[Any, Any, Any]:
        """For segment ``number`` of each row: (place in the header, place of its body, header bytes left or None)."""
        found = self._heads.get(number)
        if found is not None:
            return found
        parent = self.parent
        if parent is not None and number in parent._heads:
            head, body, left = parent._heads[number]
            positions = self.positions
            own_head = head.take(positions)
            found = (own_head, own_head if body is head else body.take(positions), None if left is None else left.take(positions))
        elif number == 0:
            starts = self.chunk.starts if self.rows is None else self.chunk.starts.take(self.rows)
            found = (starts, starts, None)
        else:
            head, body, left = self._head(number - 1)
            before = self._segment(number - 1)
            ids = before.ids
            used = before.used.take(ids)
            found = (head + used, body + before.end.take(ids), before.rest.take(ids) if left is None else left - used)
        self._heads[number] = found
        return found

    def _segment(self, number: int) -> Shaped:
        found = self._shaped.get(number)
        if found is None:
            parent = self.parent
            if parent is not None and number in parent._shaped:
                found = parent._shaped[number].take(self.positions)
            else:
                head, _, left = self._head(number)
                found = self.shapes.segments[number].read(self.chunk.heap, head, left)
            self._shaped[number] = found
        return found

    def end(self) -> Any:
        """The offset behind the last segment's body, from the start of each record."""
        last = len(self.shapes.segments) - 1
        if last < 0:
            return np.zeros(self.count, np.int64)
        shaped = self._segment(last)
        return self._head(last)[1] + shaped.end.take(shaped.ids) - self._head(0)[0]

    def rowids(self) -> Any:
        if self._rowids is None:
            parent = self.parent
            if parent is not None and parent._rowids is not None:
                self._rowids = parent._rowids.take(self.positions)
            else:
                all_rowids = self.chunk.rowids()
                self._rowids = all_rowids if self.rows is None else all_rowids.take(self.rows)
        return self._rowids

    def ordinals(self) -> Any:
        """The place of each row in the whole scan."""
        if self.rows is None:
            return np.arange(self.first_ordinal, self.first_ordinal + self.count, dtype=np.int64)
        return self.rows + self.first_ordinal

    def take(self, positions: Any) -> RecordBatch:
        """The rows at ``positions``."""
        out = RecordBatch(self.chunk, self.shapes, self.first_ordinal, len(positions))
        out.rows = positions if self.rows is None else self.rows.take(positions)
        out.parent = self
        out.positions = positions
        return out


def _batches(reader: PageReader, chunks: Iterator[Chunk], wishes: list[FieldWish]) -> Iterator[RecordBatch]:
    shapes = ShapeReader(wishes)
    ordinal = 0
    for chunk in chunks:
        batch = _prepared(reader, chunk, shapes, ordinal)
        shapes = batch.shapes
        yield batch
        ordinal += batch.count


def _prepared(reader: PageReader, chunk: Chunk, shapes: ShapeReader, ordinal: int) -> RecordBatch:
    """The batch of a chunk, spilled records assembled as far as the wanted columns need it."""
    if chunk.spilled is not None and len(chunk.spilled):
        _assemble_headers(reader, chunk)
    if shapes.needs_planning():
        shapes = shapes.planned(chunk.heap, chunk.starts)
    if chunk.spilled is not None and len(chunk.spilled):
        batch = RecordBatch(chunk, shapes, ordinal, len(chunk.starts))
        beyond = np.flatnonzero(batch.take(chunk.spilled).end() > chunk.spilled_local)
        if len(beyond):
            chunk.assemble(beyond, reader.read_overflow)
    return RecordBatch(chunk, shapes, ordinal, len(chunk.starts))


def _assemble_headers(reader: PageReader, chunk: Chunk) -> None:
    """Records whose header itself may reach into overflow pages are assembled before anything is read of them."""
    heads = chunk.heap.take(chunk.starts.take(chunk.spilled)).astype(np.int64)
    long = np.flatnonzero((heads > 127) | (heads > chunk.spilled_local))
    if len(long):
        chunk.assemble(long, reader.read_overflow)


def table_scan(pager: Any, root: int, wishes: list[FieldWish], first_pages: int = FIRST_PAGES, max_pages: int = MAX_PAGES) -> Iterator[RecordBatch]:
    """All rows of a rowid table in rowid order."""
    reader = PageReader(pager)
    return _batches(reader, _table_chunks(reader, root, first_pages, max_pages), wishes)


def _table_chunks(reader: PageReader, root: int, pages_now: int, max_pages: int) -> Iterator[Chunk]:
    for run in table_leaves(reader, root):
        first = 0
        while first < len(run.pages):
            stop = first + pages_now
            pages = run.pages[first:stop]
            heap, bases = reader.read(pages)
            yield decode_table_leaves(heap, bases, reader.layout, run.lowers[first:stop], run.uppers[first:stop])
            first = stop
            pages_now = min(2 * pages_now, max_pages)


def index_scan(pager: Any, root: int, wishes: list[FieldWish], first_pages: int = FIRST_PAGES, max_pages: int = MAX_PAGES) -> Iterator[RecordBatch]:
    """All entries of an index tree (or rows of a WITHOUT ROWID table) in key order."""
    reader = PageReader(pager)
    return _batches(reader, _index_chunks(reader, root, first_pages, max_pages), wishes)


def _index_chunks(reader: PageReader, root: int, pages_now: int, max_pages: int) -> Iterator[Chunk]:
    for run in index_leaves(reader, root):
        first = 0
        while first < len(run.pages):
            stop = first + pages_now
            pages = run.pages[first:stop]
            heap, bases = reader.read(pages)
            yield decode_index_leaves(heap, bases, reader.layout, run.separators[first:stop])
            first = stop
            pages_now = min(2 * pages_now, max_pages)


class TableFetcher:
    """Rows of a rowid table by rowid, many at a time: only the leaves that hold them are read.

    ``known`` is the leaf list of the tree, which fetchers of one tree share."""

    __slots__ = ("_shapes", "known", "reader")

    def __init__(self, pager: Any, root: int, wishes: list[FieldWish], known: TableLeaves | None = None) -> None:
        self.reader = PageReader(pager)
        self._shapes = ShapeReader(wishes)
        if known is None:
            runs = list(table_leaves(self.reader, root))
            known = TableLeaves(*[np.concatenate([getattr(run, name) for run in runs]) for name in ("pages", "lowers", "uppers")])
        self.known = known

    def batches(self, rowids: Any) -> Iterator[tuple[Any, RecordBatch]]:
        """For ascending ``rowids``: (positions in ``rowids`` that exist, their rows), several times."""
        known = self.known
        leaf = np.searchsorted(known.uppers, rowids, side="left")
        leaf = np.minimum(leaf, len(known.pages) - 1)
        wanted = np.flatnonzero(np.bincount(leaf, minlength=len(known.pages)))
        for first in range(0, len(wanted), MAX_PAGES):
            leaves = wanted[first:first + MAX_PAGES]
            start, stop = np.searchsorted(leaf, [leaves[0], leaves[-1] + 1])
            heap, bases = self.reader.read(known.pages.take(leaves))
            chunk = decode_table_leaves(heap, bases, self.reader.layout, known.lowers.take(leaves), known.uppers.take(leaves))
            batch = _prepared(self.reader, chunk, self._shapes, 0)
            self._shapes = batch.shapes
            there = chunk.rowids()
            if not len(there):
                continue
            places = np.minimum(np.searchsorted(there, rowids[start:stop]), len(there) - 1)
            found = np.flatnonzero(there.take(places) == rowids[start:stop])
            if len(found):
                yield found + start, batch.take(places.take(found))


class IntegerLeaves:
    """The leaf list of an index tree whose first field is an integer: ``pages``, the ``separators`` behind them, and the ``first`` field of those.

    ``is_usable`` is False where the first fields of the separators aren't all integers."""

    __slots__ = ("first", "is_usable", "pages", "separators")

    def __init__(self, reader: PageReader, root: int) -> None:
        runs = list(index_leaves(reader, root))
        self.pages = np.concatenate([run.pages for run in runs])
        self.separators = [separator for run in runs for separator in run.separators]
        pieces = [piece for piece in self.separators if piece is not None]
        sizes = np.array([len(piece) for piece in pieces], np.int64)
        heap = np.frombuffer(b"".join(pieces) + bytes(HEAP_SLACK), np.uint8)
        chunk = Chunk(heap, np.cumsum(sizes) - sizes, np.array([len(pieces)], np.int64))
        vector = _prepared(reader, chunk, ShapeReader([FieldWish(0)]), 0).column(0).flat() if pieces else None
        self.is_usable = vector is not None and type(vector.tags) is int and vector.tags == INTEGER and len(pieces) == len(self.pages) - 1
        self.first: Any = vector.bits if vector is not None else None


class IndexFetcher:
    """Entries of an index tree whose first field is one of some integers: only the leaves that may hold them are read.

    ``known`` is the leaf list of the tree, which fetchers of one tree share; nothing can be fetched where that isn't usable."""

    __slots__ = ("_shapes", "known", "reader")

    def __init__(self, pager: Any, root: int, wishes: list[FieldWish], known: IntegerLeaves | None = None) -> None:
        self.reader = PageReader(pager)
        self._shapes = ShapeReader(wishes)
        self.known = IntegerLeaves(self.reader, root) if known is None else known

    def leaves(self, values: Any) -> Any:
        """The places in the leaf list of the leaves that may hold entries whose first field is among ``values``."""
        known = self.known
        steps = np.zeros(len(known.pages) + 1, np.int64)
        np.add.at(steps, np.searchsorted(known.first, values, side="left"), 1)
        np.add.at(steps, np.searchsorted(known.first, values, side="right") + 1, -1)
        return np.flatnonzero(np.cumsum(steps)[:-1])

    def batches(self, wanted: Any) -> Iterator[RecordBatch]:
        """Batches of the entries, in key order, of some leaves."""
        known = self.known
        for first in range(0, len(wanted), MAX_PAGES):
            leaves = wanted[first:first + MAX_PAGES]
            separators = [known.separators[leaf] for leaf in leaves.tolist()]
            heap, bases = self.reader.read(known.pages.take(leaves))
            chunk = decode_index_leaves(heap, bases, self.reader.layout, separators)
            batch = _prepared(self.reader, chunk, self._shapes, 0)
            self._shapes = batch.shapes
            yield batch


__all__ = ["FieldWish", "IndexFetcher", "RecordBatch", "TableFetcher", "Unreadable", "index_scan", "table_scan"]
