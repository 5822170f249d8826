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
from sqlvec.pages.columns.column_gather import FieldWish, ShapeReader, gather
from sqlvec.pages.columns.index_leaf_decode import decode_index_leaves
from sqlvec.pages.columns.leaf_decode import Chunk, Unreadable, decode_table_leaves
from sqlvec.pages.columns.tree_walk import index_leaves, table_leaves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.pages.page import Layout

FIRST_PAGES = 8
MAX_PAGES = 512
ROWID_WISH = -1


class PageReader:
    """What a scan needs of a pager: pages into numpy heaps."""

    __slots__ = ("_into", "layout", "page_count", "pager", "read_overflow")

    def __init__(self, pager: Any) -> None:
        self.pager = pager
        self.layout: Layout = pager.layout
        self.page_count = pager.page_count
        self.read_overflow = pager.read_overflow
        self._into = getattr(pager, "read_run_into", None)

    def page(self, page_no: int) -> bytes:
        return bytes(self.pager.get(page_no))

    def read(self, pages: Any) -> Any:
        """A new heap that holds these pages in this order."""
        size = len(pages) * self.layout.page_size
        heap = np.empty(size + HEAP_SLACK, np.uint8)
        heap[size:] = 0
        if self._into is not None:
            self._into(pages.tolist(), memoryview(heap)[:size])
        else:
            heap[:size] = np.frombuffer(self.pager.read_run(pages.tolist()), np.uint8)
        return heap


class RecordBatch:
    """Some rows of a scan; columns are gathered at first use.  ``rows`` are positions in the chunk (None = all of them)."""

    __slots__ = ("_columns", "_rowids", "chunk", "count", "first_ordinal", "heap", "rows", "shape", "starts", "tables", "wishes")

    def __init__(self, chunk: Chunk, starts: Any, shape: Any, tables: Any, wishes: list[FieldWish], first_ordinal: int, rows: Any = None) -> None:
        self.chunk = chunk
        self.heap = chunk.heap
        self.starts = starts
        self.shape = shape
        self.tables = tables
        self.wishes = wishes
        self.first_ordinal = first_ordinal
        self.rows = rows
        self.count = len(starts)
        self._columns: dict[int, ColumnVector] = {}
        self._rowids: Any = None

    def column(self, number: int) -> ColumnVector:
        """The wish ``number`` for all rows of the batch; ROWID_WISH is the rowid."""
        found = self._columns.get(number)
        if found is None:
            if number == ROWID_WISH:
                found = ColumnVector(self.count, INTEGER, self.rowids())
            else:
                wish = self.wishes[number]
                found = gather(self.heap, self.starts, self.shape, self.tables[wish.field], wish)
            self._columns[number] = found
        return found

    def rowids(self) -> Any:
        if self._rowids is None:
            all_rowids = self.chunk.rowids()
            self._rowids = all_rowids if self.rows is None else all_rowids.take(self.rows)
        return self._rowids

    def ordinals(self) -> Any:
        """The place of each row in the whole scan."""
        if self.rows is None:
            return np.arange(self.first_ordinal, self.first_ordinal + self.count, dtype=np.int64)
        return self.rows + self.first_ordinal

    def take(self, positions: Any) -> RecordBatch:
        """The rows at ``positions``, with what was gathered already."""
        rows = positions if self.rows is None else self.rows.take(positions)
        out = RecordBatch(self.chunk, self.starts.take(positions), self.shape.take(positions), self.tables, self.wishes, self.first_ordinal, rows)
        for number, vector in self._columns.items():
            out._columns[number] = vector.take(positions)
        if self._rowids is not None:
            out._rowids = self._rowids.take(positions)
        return out


def _batches(reader: PageReader, chunks: Iterator[Chunk], wishes: list[FieldWish]) -> Iterator[RecordBatch]:
    shapes = ShapeReader(wishes)
    ordinal = 0
    for chunk in chunks:
        if chunk.spilled is not None and len(chunk.spilled):
            _assemble_headers(reader, chunk)
        shape, tables, end = shapes.shapes(chunk.heap, chunk.starts)
        if chunk.spilled is not None and len(chunk.spilled):
            beyond = np.flatnonzero(end.take(shape.take(chunk.spilled)) > chunk.spilled_local)
            if len(beyond):
                chunk.assemble(beyond, reader.read_overflow)
        yield RecordBatch(chunk, chunk.starts, shape, tables, wishes, ordinal)
        ordinal += len(chunk.starts)


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
            heap = reader.read(pages)
            yield decode_table_leaves(heap, len(pages), reader.layout, run.lowers[first:stop], run.uppers[first:stop])
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
            yield decode_index_leaves(reader.read(pages), len(pages), reader.layout, run.separators[first:stop])
            first = stop
            pages_now = min(2 * pages_now, max_pages)


__all__ = ["FieldWish", "RecordBatch", "Unreadable", "index_scan", "table_scan"]
