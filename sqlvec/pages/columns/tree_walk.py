"""The leaf list of a tree: interior pages first, many at a time, so that leaves can be read in long runs.

A walk goes down level by level and keeps key order: the children of a group of interior pages are expanded together, and groups are
small enough (``_GROUP`` pages, some ten thousand leaves) that the first leaves are known after a few page reads.

What a leaf inherits from above: in table trees the bounds of its rowids (``lower < rowid <= upper``), in index trees the *separator*,
the entry that stands behind it.

Damage (wrong page kind, too deep, more leaves than the file has pages) raises :class:`Unreadable`.
"""
from __future__ import annotations

from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import load_words
from sqlvec.pages.columns.leaf_decode import NO_BOUND, Unreadable, read_varints
from sqlvec.pages.page import index_interior

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.pages.columns.batch_scan import PageReader

INTERIOR_TABLE = 5
INTERIOR_INDEX = 2
_GROUP = 64
_MAX_DEPTH = 20
LOWEST = -0x8000000000000000


class TableLeaves:
    """A run of leaves of a table tree in key order: ``pages``, and the rowid bounds ``lowers`` and ``uppers`` (arrays)."""

    __slots__ = ("lowers", "pages", "uppers")

    def __init__(self, pages: Any, lowers: Any, uppers: Any) -> None:
        self.pages = pages
        self.lowers = lowers
        self.uppers = uppers


def table_leaves(reader: PageReader, root: int) -> Iterator[TableLeaves]:
    """All leaves of a table tree, in runs."""
    depth = _depth(reader, root, INTERIOR_TABLE)
    pages = np.array([root], np.int64)
    bound = np.array([NO_BOUND], np.int64)
    seen = 0
    previous = LOWEST
    for run, uppers in _expand_table(reader, pages, bound, depth):
        seen += len(run)
        if seen > reader.page_count:
            raise Unreadable
        lowers = np.empty(len(uppers), np.int64)
        lowers[0] = previous
        lowers[1:] = uppers[:-1]
        previous = int(uppers[-1])
        yield TableLeaves(run, lowers, uppers)


def _depth(reader: PageReader, root: int, interior: int) -> int:
    """Levels of interior pages above the leaves."""
    depth = 0
    page_no = root
    while True:
        page = reader.page(page_no)
        if page[0] != interior:
            return depth
        depth += 1
        if depth > _MAX_DEPTH:
            raise Unreadable
        count = page[3] << 8 | page[4]
        if count:
            at = page[12] << 8 | page[13]
            page_no = int.from_bytes(page[at:at + 4], "big")
        else:
            page_no = int.from_bytes(page[8:12], "big")


def _expand_table(reader: PageReader, pages: Any, uppers: Any, depth: int) -> Iterator[tuple[Any, Any]]:
    if not depth:
        yield pages, uppers
        return
    for first in range(0, len(pages), _GROUP):
        children, bounds = _table_children(reader, pages[first:first + _GROUP], uppers[first:first + _GROUP])
        yield from _expand_table(reader, children, bounds, depth - 1)


def _table_children(reader: PageReader, pages: Any, uppers: Any) -> tuple[Any, Any]:
    """Children of interior pages with their largest possible rowid, in key order."""
    layout = reader.layout
    size = layout.page_size
    heap, base = reader.read(pages)
    body = heap[:len(heap) // size * size].reshape(-1, size)[base // size]
    if (body[:, 0] != INTERIOR_TABLE).any():
        raise Unreadable
    counts = (body[:, 3].astype(np.int64) << 8) | body[:, 4]
    most = int(counts.max())
    if 12 + 2 * most > layout.usable:
        raise Unreadable
    is_cell = np.arange(most) < counts[:, None]
    cells = (body.view(">u2")[:, 6:6 + most].astype(np.int64) + base[:, None])[is_cell]
    if len(cells) and int((cells & (size - 1)).max()) > layout.usable - 5:
        raise Unreadable
    rights = (load_words(heap, base + 8).byteswap() >> np.uint64(32)).view(np.int64)
    ends = np.cumsum(counts)
    children = np.insert((load_words(heap, cells).byteswap() >> np.uint64(32)).view(np.int64), ends, rights)
    keys = np.insert(read_varints(heap, cells + 4)[0], ends, uppers)
    if int(children.min()) < 1 or int(children.max()) > reader.page_count or (keys[1:] < keys[:-1]).any():
        raise Unreadable
    return children, keys


# --- index trees ---------------------------------------------------------------------------------------------------------------------


class IndexLeaves:
    """A run of leaves of an index tree: ``pages`` and the ``separators`` behind them (payload or None)."""

    __slots__ = ("pages", "separators")

    def __init__(self, pages: Any, separators: list[bytes | None]) -> None:
        self.pages = pages
        self.separators = separators


def index_leaves(reader: PageReader, root: int) -> Iterator[IndexLeaves]:
    """All leaves of an index tree, in runs."""
    depth = _depth(reader, root, INTERIOR_INDEX)
    seen = 0
    for run in _expand_index(reader, [root], [None], depth):
        seen += len(run.pages)
        if seen > reader.page_count:
            raise Unreadable
        yield run


def _expand_index(reader: PageReader, pages: list[int], separators: list[bytes | None], depth: int) -> Iterator[IndexLeaves]:
    if not depth:
        yield IndexLeaves(np.array(pages, np.int64), separators)
        return
    for first in range(0, len(pages), _GROUP):
        children: list[int] = []
        behind: list[bytes | None] = []
        for page_no, separator in zip(pages[first:first + _GROUP], separators[first:first + _GROUP], strict=True):
            payloads, below = index_interior(reader.page(page_no), page_no, reader.layout, reader.read_overflow)
            children += below
            behind += payloads
            behind.append(separator)
        if max(children) > reader.page_count or min(children) < 1:
            raise Unreadable
        yield from _expand_index(reader, children, behind, depth - 1)


