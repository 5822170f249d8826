"""Changing many rows of a rowid table, leaf by leaf: the work of large UPDATEs and DELETEs.

A leaf with several changed rows is decoded once and built anew; where the new content doesn't fit or there are overflow pages, and on leaves with few
changes, rows go the ordinary way one by one.  When rows are removed, the last one of each leaf is removed the ordinary way, so that balancing sees the page.

The leaves hold the same rows as after single changes; only the free space on them lies elsewhere.  Manual: file format, section 1.6.
"""
from __future__ import annotations

from _bisect import bisect_right

from sqlvec import errors
from sqlvec.pages.page import LEAF_TABLE, header_offset, table_leaf
from sqlvec.pages.page_edit import build_page, cells_size, free_space
from sqlvec.pages.record import put_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.pages.btree import TableTree

WORTH = 4
"""So many changes on one leaf are worth building it anew."""


def rewrite_rows(tree: TableTree, changed: dict[int, bytes]) -> None:
    """Give existing rows new records."""
    waiting = sorted(changed)
    start = 0
    while start < len(waiting):
        page_no = tree.find_leaf(waiting[start])
        rows, is_plain = _rows(tree, page_no)
        end = max(bisect_right(waiting, rows[-1][0], start), start + 1) if rows else start + 1
        if end - start < WORTH or not is_plain or not _build(tree, page_no, [(rowid, changed.get(rowid, payload)) for rowid, payload in rows]):
            for rowid in waiting[start:end]:
                tree.insert(rowid, changed[rowid])
        start = end


def remove_rows(tree: TableTree, rowids: list[int]) -> int:
    """Remove rows (ascending rowids); returns how many there were."""
    start = 0
    removed = 0
    while start < len(rowids):
        page_no = tree.find_leaf(rowids[start])
        rows, is_plain = _rows(tree, page_no)
        end = max(bisect_right(rowids, rows[-1][0], start), start + 1) if rows else start + 1
        if end - start >= WORTH and is_plain:
            gone = set(rowids[start : end - 1])
            kept = [row for row in rows if row[0] not in gone]
            if kept and len(kept) == len(rows) - len(gone) and _build(tree, page_no, kept):
                removed += len(gone)
                start = end - 1
        for rowid in rowids[start:end]:
            removed += tree.delete(rowid)
        start = end
    return removed


def _rows(tree: TableTree, page_no: int) -> tuple[list[tuple[int, bytes]], bool]:
    """The rows of a leaf, and whether none of them has overflow pages (which must be kept or freed one by one).

    The free space of the page is checked, as by every writer.  A leaf of which some cell is damaged is left to changes row by row."""
    pager = tree.pager
    page = bytes(pager.get(page_no))
    free_space(page, header_offset(page_no), pager.usable_size)
    try:
        rows = table_leaf(page, page_no, pager.layout, pager.read_overflow)
    except errors.SqlError as error:
        if error.code != errors.CORRUPT:
            raise
        return [], False
    max_leaf = pager.layout.max_leaf
    return rows, max((len(payload) for _, payload in rows), default=0) <= max_leaf


def _build(tree: TableTree, page_no: int, rows: list[tuple[int, bytes]]) -> bool:
    """Put exactly these rows on a leaf; False where one of them needs overflow pages, or they don't fit."""
    pager = tree.pager
    max_leaf = pager.layout.max_leaf
    cells = []
    for rowid, payload in rows:
        if len(payload) > max_leaf:
            return False
        cells.append(put_varint(len(payload)) + put_varint(rowid) + payload)
    if cells_size(cells) + (108 if page_no == 1 else 8) > pager.usable_size:
        return False
    pager.spill_if_large()
    page = pager.write(page_no)
    build_page(page, page_no, LEAF_TABLE, cells, pager.usable_size)
    pager.forget_node(page_no)
    tree.write_count += 1
    return True
