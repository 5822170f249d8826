"""Pointer-map pages of auto-vacuum databases: for every page, what it is and who points to it (file format, section 1.8).

Page 2 is the first map page; each covers the U/5 pages that follow it.
"""
from __future__ import annotations

from sqlvec import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.pages.pager import Pager

ROOT = 1
FREE = 2
OVERFLOW_FIRST = 3
OVERFLOW_NEXT = 4
BTREE = 5


def map_page_of(pager: Pager, page_no: int) -> int:
    """The map page that covers ``page_no`` (itself, when it is a map page)."""
    covered = pager.usable_size // 5 + 1
    found = (page_no - 2) // covered * covered + 2
    if found == pager.pending_page:
        found += 1
    return found


def is_map_page(pager: Pager, page_no: int) -> bool:
    return page_no >= 2 and map_page_of(pager, page_no) == page_no


def read_entry(pager: Pager, page_no: int) -> tuple[int, int]:
    """(type, parent) of a page."""
    map_page = map_page_of(pager, page_no)
    at = 5 * (page_no - map_page - 1)
    if at < 0 or page_no < 3:
        raise errors.corrupt()
    page = pager.get(map_page)
    kind = page[at]
    if not ROOT <= kind <= BTREE:
        raise errors.corrupt()
    return kind, int.from_bytes(page[at + 1 : at + 5], "big")


def write_entry(pager: Pager, page_no: int, kind: int, parent: int) -> None:
    """Record what a page is; unchanged entries cost no write."""
    map_page = map_page_of(pager, page_no)
    at = 5 * (page_no - map_page - 1)
    if at < 0 or page_no < 3:
        raise errors.corrupt()
    entry = bytes((kind,)) + parent.to_bytes(4, "big")
    if pager.get(map_page)[at : at + 5] != entry:
        pager.write(map_page)[at : at + 5] = entry
