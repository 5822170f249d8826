"""Many leaf pages at once: from page bytes to the places where the records begin.

A chunk is a ``uint8`` heap that holds whole pages one behind the other (plus slack).  Decoding one means, for all its cells at once,
finding the first byte of each record::

    page ->  cell pointers ->  [payload length][rowid]  record header | body ...
             (2-D view)        1..9 bytes      1..9     ^ starts

Two observations make this cheap.  The payload length is a one- or two-byte number nearly everywhere, told by the top bit of its first
byte; and the keys of the interior pages bound the rowids of each leaf, so that the *size* of the rowid is one number per leaf, and in a
leaf whose rowids are consecutive (as many cells as the bounds allow) even the rowids themselves are known without reading them.

Invariants:

1. Nothing here trusts a page: kinds, counts and pointers are checked, everything else is bounds-checked by numpy's indexing; damage
   raises :class:`Unreadable`, upon which the row engine reads the same pages and finds the words for it.
2. ``starts`` of a record whose payload overflows point into the page, where its local part is, until :meth:`Chunk.assemble`
   copies the record behind the pages of the heap.
3. Rows are in key order.

Follows "B-tree Pages" of the file format.
"""
from __future__ import annotations

from sqlvec.columnar.numeric import distinct_small, np
from sqlvec.columnar.vector import HEAP_SLACK, load_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlvec.pages.page import Layout

LEAF_TABLE = 13
LEAF_INDEX = 10
NO_BOUND = 0x7FFFFFFFFFFFFFFF


class Unreadable(Exception):
    """The pages can't be decoded here (damage, or a form that only the row engine knows): restart there."""


class Chunk:
    """Decoded leaf pages: ``heap``, record ``starts`` (one a row), and what is needed for rowids.

    ``spilled`` are the rows whose payload overflows, with ``spilled_sizes`` (the whole payload) and ``spilled_local`` (bytes that are
    in the page)."""

    __slots__ = ("_behind_rowid", "_rowid_sizes", "counts", "heap", "lowers", "spilled", "spilled_local", "spilled_sizes", "starts", "uppers")

    def __init__(self, heap: Any, starts: Any, counts: Any) -> None:
        self.heap = heap
        self.starts = starts
        self.counts = counts
        self.lowers: Any = None
        self.uppers: Any = None
        self.spilled: Any = None
        self.spilled_sizes: Any = None
        self.spilled_local: Any = None
        self._behind_rowid: Any = None            # the starts as long as nothing is assembled
        self._rowid_sizes: Any = None

    # --- rowids --------------------------------------------------------------------------------------------------------------

    def rowids(self) -> Any:
        """The rowid of each row (table leaves)."""
        n = len(self.starts)
        spans = self.uppers - self.lowers
        dense = (spans == self.counts) & (self.uppers != NO_BOUND)
        if dense.all():
            first = np.cumsum(self.counts) - self.counts
            return np.repeat(self.lowers + 1 - first, self.counts) + np.arange(n, dtype=np.int64)
        sizes = self._rowid_sizes
        at = self._behind_rowid - sizes
        if type(sizes) is int:
            return decode_varints(self.heap, at, sizes)
        out = np.empty(n, np.int64)
        for size in distinct_small(sizes):
            rows = np.flatnonzero(sizes == size)
            out[rows] = decode_varints(self.heap, at.take(rows), size)
        return out

    # --- overflow --------------------------------------------------------------------------------------------------------------

    def assemble(self, which: Any, read_overflow: Callable[[int, int], bytes]) -> None:
        """Copy the whole records of the spilled rows number ``which`` (positions in ``spilled``) behind the pages."""
        pieces = []
        size = len(self.heap) - HEAP_SLACK
        starts = self.starts = self.starts.copy()
        for number in which.tolist():
            row = int(self.spilled[number])
            at = int(starts[row])
            local = int(self.spilled_local[number])
            head = self.heap[at:at + local + 4].tobytes()
            rest = read_overflow(int.from_bytes(head[local:], "big"), int(self.spilled_sizes[number]) - local)
            starts[row] = size
            piece = head[:local] + rest
            if len(piece) != int(self.spilled_sizes[number]):
                raise Unreadable
            pieces.append(piece)
            size += len(piece)
        extension = np.frombuffer(b"".join(pieces) + bytes(HEAP_SLACK), np.uint8)
        self.heap = np.concatenate([self.heap[:len(self.heap) - HEAP_SLACK], extension])
        keep = np.ones(len(self.spilled), bool)
        keep[which] = False
        self.spilled = self.spilled[keep]
        self.spilled_sizes = self.spilled_sizes[keep]
        self.spilled_local = self.spilled_local[keep]


# --- varints -----------------------------------------------------------------------------------------------------------------------


def decode_varints(heap: Any, at: Any, size: int) -> Any:
    """The varints of exactly ``size`` bytes at each offset, as ``int64``."""
    if size == 1:
        return heap.take(at).astype(np.int64)
    words = load_words(heap, at).byteswap()
    if size == 9:
        last = heap.take(at + 8).astype(np.uint64)
        return ((_seven_bits(words, 8) << np.uint64(8)) | last).view(np.int64)
    return _seven_bits(words >> np.uint64(64 - 8 * size), size).view(np.int64)


def _seven_bits(words: Any, size: int) -> Any:
    """Squeeze the low ``size`` bytes to 7 bits each."""
    out = words & np.uint64(0x7F)
    for position in range(1, size):
        out |= (words >> np.uint64(position)) & np.uint64(0x7F << (7 * position))
    return out


def varint_sizes(heap: Any, at: Any) -> Any:
    """The number of bytes of the varint at each offset."""
    sizes = np.ones(len(at), np.int64)
    rows = np.flatnonzero(heap.take(at) > 127)
    step = 1
    while len(rows) and step < 9:
        sizes[rows] = step + 1
        if step == 8:
            break
        rows = rows[heap.take(at.take(rows) + step) > 127]
        step += 1
    return sizes


def read_varints(heap: Any, at: Any) -> tuple[Any, Any]:
    """(values, sizes) of the varints at each offset."""
    sizes = varint_sizes(heap, at)
    values = np.empty(len(at), np.int64)
    for size in distinct_small(sizes):
        rows = np.flatnonzero(sizes == size)
        values[rows] = decode_varints(heap, at.take(rows), size)
    return values, sizes


def rowid_size(key: int) -> int:
    """Bytes of the varint of a rowid."""
    if key < 0:
        return 9
    return min(9, (max(key.bit_length(), 1) + 6) // 7)


_SIZE_STEPS = np.array([1 << (7 * k) for k in range(1, 9)], np.int64)


def _sizes_by_page(lowers: Any, uppers: Any) -> Any:
    """The rowid size of each page where one size fits all its rows, else 0."""
    low = np.searchsorted(_SIZE_STEPS, lowers + 1, side="right") + 1
    high = np.searchsorted(_SIZE_STEPS, uppers, side="right") + 1
    low[lowers < -1] = 9
    high[uppers < 0] = 9
    known = (low == high) & ((lowers >= -1) | (uppers < 0)) & (uppers != NO_BOUND)
    return np.where(known, low, 0)


# --- cells -------------------------------------------------------------------------------------------------------------------------


def cell_offsets(heap: Any, bases: Any, layout: Layout, kind: int) -> tuple[Any, Any]:
    """(offset of every cell in the heap, number of cells of every page); ``bases`` are the offsets of the pages."""
    size = layout.page_size
    if (heap.take(bases) != kind).any():
        raise Unreadable
    counts = (heap.take(bases + 3).astype(np.int64) << 8) | heap.take(bases + 4)
    most = int(counts.max())
    if 8 + 2 * most > layout.usable:
        raise Unreadable
    slots = heap[:len(heap) // size * size].view(">u2").reshape(-1, size // 2)
    filled = counts
    if len(slots) != len(bases):                  # between the pages are others, of which no cell is wanted
        filled = np.zeros(len(slots), np.int64)
        filled[bases // size] = counts
    places = slots[:, 4:4 + most].astype(np.uint16).ravel()
    if int(filled.min()) != most:
        places = places.compress((np.arange(most) < filled[:, None]).ravel())
    if len(places) and (int(places.max()) > layout.usable - 4 or int(places.min()) < 8):
        raise Unreadable
    offsets = places.astype(np.int64)
    offsets += np.repeat(bases, counts)
    return offsets, counts


def decode_table_leaves(heap: Any, bases: Any, layout: Layout, lowers: Any, uppers: Any) -> Chunk:
    """Decode the table leaves at ``bases`` of the heap; the rowids of page i are in ``lowers[i] < rowid <= uppers[i]``."""
    cells, counts = cell_offsets(heap, bases, layout, LEAF_TABLE)
    chunk = Chunk(heap, cells, counts)
    chunk.lowers = lowers
    chunk.uppers = uppers
    at, spilled, payloads = behind_payload_size(heap, cells, layout.max_leaf)
    del cells
    sizes = _sizes_by_page(lowers, uppers)
    first = int(sizes[0])
    if first and (sizes == first).all():
        row_sizes: Any = first
    else:
        row_sizes = np.repeat(sizes, counts)
        unknown = np.flatnonzero(row_sizes == 0)
        if len(unknown):
            row_sizes[unknown] = varint_sizes(heap, at.take(unknown))
    at += row_sizes
    chunk._behind_rowid = chunk.starts = at
    chunk._rowid_sizes = row_sizes
    if spilled is not None:
        note_spilled(chunk, spilled, payloads, layout, layout.max_leaf)
    return chunk


def behind_payload_size(heap: Any, cells: Any, max_local: int) -> tuple[Any, Any, Any]:
    """(offset behind the payload size (the caller's own), rows that overflow or None, payload sizes of those)."""
    head = heap.take(cells)
    if not len(head):
        return cells.copy(), None, None
    high = int(head.max())
    # A first byte below this can't begin the size of a payload that overflows.
    suspicious = max_local + 1 if max_local < 128 else 128 + min(max_local >> 7, 127)
    if high < 128:
        at = cells + 1
    elif int(head.min()) > 127:
        at = cells + 2
    else:
        at = cells + (head >> 7)
        at += 1
    if high < suspicious:
        return at, None, None
    rows = np.flatnonzero(head >= suspicious)
    payloads, sizes = read_varints(heap, cells.take(rows))
    at[rows] = cells.take(rows) + sizes
    over = np.flatnonzero((payloads > max_local) | (payloads < 0))
    if not len(over):
        return at, None, None
    payloads = payloads.take(over)
    if int(payloads.min()) < 0 or int(payloads.max()) > 0x7FFFFFFF:
        raise Unreadable
    return at, rows.take(over), payloads


def note_spilled(chunk: Chunk, rows: Any, payloads: Any, layout: Layout, max_local: int) -> None:
    """Remember the overflowing rows and how much of each is in its page."""
    low = layout.min_local
    local = low + (payloads - low) % (layout.usable - 4)
    chunk.spilled = rows
    chunk.spilled_sizes = payloads
    chunk.spilled_local = np.where(local <= max_local, local, low)
