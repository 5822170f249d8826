"""B-trees: rowid tables (:class:`TableTree`) and indexes or WITHOUT ROWID tables (:class:`IndexTree`).

A tree object is a root page number with its pager and, for an index, its key layout.  Reading is here and in ``cursor``; the writer
(``btree_write``, ``balance``) is loaded by the first change.

``write_count`` grows with every change of the tree (and with every rollback that may have touched it); whoever walks a tree while
others write compares it and re-seeks.  Manual: file format, section 1.6.
"""
from __future__ import annotations

from _bisect import bisect_left

from sqlvec import errors
from sqlvec.pages.cursor import (
    count_cells,
    find_first,
    index_blocks,
    lowest_interiors,
    row_search,
    sample_size,
    table_blocks,
    table_node,
)
from sqlvec.pages.key_layout import KeyLayout, Probe
from sqlvec.pages.page import (
    INTERIOR_INDEX,
    INTERIOR_TABLE,
    LEAF_INDEX,
    LEAF_TABLE,
    MAX_DEPTH,
    cell_pointers,
    leaf_payload,
    rowid_at,
    table_leaf,
)
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.pages.pager import Pager
    from sqlvec.pages.record import Value

    Bound = tuple[tuple[Value, ...], bool] | None

__all__ = ["IndexTree", "KeyLayout", "TableTree"]

MANY_ROWS = 16
"""A leaf with fewer rows isn't worth decoding as a whole: they may have overflow pages."""


class TableTree:
    """A rowid tree: 64-bit keys, records only on leaves."""

    __slots__ = ("append_state", "pager", "root", "write_count")
    is_table = True

    def __init__(self, pager: Pager, root: int) -> None:
        self.pager = pager
        self.root = root
        self.write_count = 0
        self.append_state: Any = None

    # --- reading -------------------------------------------------------------------------------------------------------------------

    def blocks(self, lo: int | None = None, hi: int | None = None, descending: bool = False) -> Iterator[list[tuple[int, bytes]]]:
        """Lists of (rowid, payload), one a leaf, never empty; bounds are inclusive."""
        return table_blocks(self.pager, self.root, lo, hi, descending)

    def find_leaf(self, rowid: int) -> int:
        """The leaf page that holds ``rowid`` or would."""
        pager = self.pager
        page_no = self.root
        for _ in range(MAX_DEPTH):
            node = table_node(pager, page_no)
            if node is None:
                return page_no
            page_no = node[1][bisect_left(node[0], rowid)]
        raise errors.corrupt()

    def get(self, rowid: int) -> bytes | None:
        """The record of a row."""
        return self.get_in_leaf(self.find_leaf(rowid), rowid)

    def leaf_rows(self, page_no: int) -> list[tuple[int, bytes]]:
        """(rowid, payload) of all rows of a leaf; none where its rows are few and large, or damaged."""
        pager = self.pager
        page = pager.get(page_no)
        at = 100 if page_no == 1 else 0
        if page[at + 3] << 8 | page[at + 4] < MANY_ROWS:
            return []
        try:
            return table_leaf(bytes(page), page_no, pager.layout, pager.read_overflow)
        except errors.SqlError:
            return []

    def get_in_leaf(self, page_no: int, rowid: int) -> bytes | None:
        """The record of a row that is on this leaf, if anywhere."""
        pager = self.pager
        page, _, offset = row_search(pager, page_no, rowid)
        if not offset:
            return None
        try:
            return leaf_payload(page, offset, pager.layout, pager.read_overflow)[1]
        except IndexError:
            raise errors.corrupt() from None

    def contains(self, rowid: int) -> bool:
        """Does the row exist?"""
        return row_search(self.pager, self.find_leaf(rowid), rowid)[2] != 0

    def is_empty(self) -> bool:
        """Has the table no rows?  Looks at the root page alone."""
        pager = self.pager
        if not pager.page_count:
            return True
        kind, pointers = cell_pointers(pager.get(self.root), self.root, pager.layout)
        return kind == LEAF_TABLE and not pointers

    def max_rowid(self) -> int | None:
        """The largest rowid, None in an empty table."""
        state = self.append_state
        if state is not None and state.is_current(self):
            return state.last_rowid  # type: ignore[no-any-return]
        return self._edge_rowid(-1)

    def min_rowid(self) -> int | None:
        """The smallest rowid, None in an empty table."""
        return self._edge_rowid(0)

    def _edge_rowid(self, side: int) -> int | None:
        pager = self.pager
        page_no = self.root
        for _ in range(MAX_DEPTH):
            node = table_node(pager, page_no)
            if node is None:
                page = pager.get(page_no)
                kind, pointers = cell_pointers(page, page_no, pager.layout)
                if kind != LEAF_TABLE:
                    raise errors.corrupt()
                try:
                    return rowid_at(page, pointers[side]) if pointers else None
                except IndexError:
                    raise errors.corrupt() from None
            page_no = node[1][side]
        raise errors.corrupt()

    def count_rows(self) -> int:
        """Number of rows, from the page headers; the schema table of an empty file has none."""
        if not self.pager.page_count:
            return 0
        return count_cells(self.pager, self.leaf_pages(), LEAF_TABLE)

    def leaf_pages(self) -> list[int]:
        """All leaf pages in key order."""
        return [page_no for leaves, _ in lowest_interiors(self.pager, self.root, INTERIOR_TABLE) for page_no in leaves]

    def leaf_bounds(self) -> tuple[list[int], list[int]]:
        """(leaf pages, the largest rowid that each but the last may hold), for scans that skip by rowid."""
        pages: list[int] = []
        keys: list[int] = []
        for leaves, between in lowest_interiors(self.pager, self.root, INTERIOR_TABLE):
            pages += leaves
            keys += [key for key in between if key is not None]
        return pages, keys

    def physical_size(self) -> tuple[int, int]:
        """(leaves, rows), estimated by sampling."""
        return sample_size(self.pager, self.root, INTERIOR_TABLE)

    # --- writing -------------------------------------------------------------------------------------------------------------------

    def insert(self, rowid: int, payload: bytes) -> None:
        """Store a row; an existing one with this rowid is replaced."""
        state = self.append_state
        if state is None or not state.append(self, rowid, payload):
            resolve("sqlvec.pages.btree_write:insert_row")(self, rowid, payload)

    def delete(self, rowid: int) -> bool:
        """Remove a row; False when there is none."""
        return resolve("sqlvec.pages.btree_write:delete_row")(self, rowid)  # type: ignore[no-any-return]


class IndexTree:
    """A tree ordered by its records: an index, or a WITHOUT ROWID table."""

    __slots__ = ("append_state", "layout", "pager", "root", "write_count")
    is_table = False

    def __init__(self, pager: Pager, root: int, layout: KeyLayout) -> None:
        self.pager = pager
        self.root = root
        self.layout = layout
        self.write_count = 0
        self.append_state: Any = None

    # --- reading -------------------------------------------------------------------------------------------------------------------

    def blocks(self, lower: Bound = None, upper: Bound = None, descending: bool = False) -> Iterator[list[bytes]]:
        """Lists of payloads between two bounds, about one a leaf, never empty.

        A bound is ``(prefix, after)``: the position before all entries that begin with ``prefix``, or after all of them.
        """
        return index_blocks(self.pager, self.root, self.layout, lower, upper, descending)

    def contains_prefix(self, values: tuple[Value, ...]) -> bytes | None:
        """The first entry that begins with ``values``."""
        layout = self.layout
        probe = Probe(layout, values, False)
        payload = find_first(self.pager, self.root, probe)
        try:
            if payload is None or layout.compare(layout.key_fields(payload, probe.count), values) != 0:
                return None
        except IndexError:
            raise errors.corrupt() from None
        return payload

    def first(self) -> bytes | None:
        """The smallest entry."""
        for rows in self.blocks():
            return rows[0]
        return None

    def last(self) -> bytes | None:
        """The greatest entry."""
        for rows in self.blocks(descending=True):
            return rows[0]
        return None

    def count_entries(self) -> int:
        """Number of entries, from the page headers and the interior cells."""
        pages: list[int] = []
        inner = 0
        for leaves, between in lowest_interiors(self.pager, self.root, INTERIOR_INDEX):
            pages += leaves
            inner += sum(entry is not None for entry in between)
        return count_cells(self.pager, pages, LEAF_INDEX) + inner

    def leaf_pages(self) -> list[int]:
        """All leaf pages in key order."""
        return [page_no for leaves, _ in lowest_interiors(self.pager, self.root, INTERIOR_INDEX) for page_no in leaves]

    def leaf_entries(self) -> tuple[list[int], list[bytes]]:
        """(leaf pages, the interior entry behind each but the last): leaves and entries alternate in key order."""
        pages: list[int] = []
        entries: list[bytes] = []
        for leaves, between in lowest_interiors(self.pager, self.root, INTERIOR_INDEX):
            pages += leaves
            entries += [entry for entry in between if entry is not None]
        return pages, entries

    def physical_size(self) -> tuple[int, int]:
        """(leaves, entries), estimated by sampling."""
        return sample_size(self.pager, self.root, INTERIOR_INDEX)

    # --- writing -------------------------------------------------------------------------------------------------------------------

    def insert(self, payload: bytes, values: tuple[Value, ...]) -> None:
        """Store an entry (``values`` are its decoded fields); one with equal key fields is replaced."""
        resolve("sqlvec.pages.btree_write:insert_entry")(self, payload, values)

    def delete(self, values: tuple[Value, ...]) -> bool:
        """Remove the entry with these key fields; False when there is none."""
        return resolve("sqlvec.pages.btree_write:delete_entry")(self, values)  # type: ignore[no-any-return]
