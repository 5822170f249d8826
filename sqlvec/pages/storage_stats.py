"""What the dbstat virtual table shows: one row per page of a tree, in the order of a walk from the root.

Rows are ``(path, page number, page type, cells, payload, unused, largest payload, page offset)``.  Overflow pages follow the row of their
page (before the child, on interior pages); as in the original, the offset of an overflow row is that of the page visited before it.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages.page import INTERIOR_TABLE, LEAF_TABLE, MAX_DEPTH
from sqlvec.pages.page_edit import free_space, page_cells
from sqlvec.pages.record import get_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlvec.pages.pager import Pager

    StatRow = tuple[str, int, str, int, int, int, int, int]


def page_rows(pager: Pager, root: int) -> Iterator[StatRow]:
    """All rows of one tree."""
    visited = root
    for row in _walk(pager, root, "/", 0):
        if row[2] == "overflow":
            yield (*row[:7], (visited - 1) * pager.page_size)
        else:
            yield row
        visited = row[1]


def _walk(pager: Pager, page_no: int, path: str, depth: int) -> Iterator[StatRow]:
    if depth > MAX_DEPTH:
        raise errors.corrupt()
    layout = pager.layout
    page = pager.get(page_no)
    at = 100 if page_no == 1 else 0
    kind = page[at]
    cells = page_cells(page, page_no, layout)
    limit = layout.max_leaf if kind == LEAF_TABLE else layout.max_index
    sizes = [0 if kind == INTERIOR_TABLE else get_varint(cell, 4 if kind < 8 else 0)[0] for cell in cells]
    local = sum(layout.local_size(size, limit) for size in sizes)
    unused = free_space(page, at, layout.usable)
    name = "leaf" if kind > 8 else "internal"
    size_of_page = pager.page_size
    yield path, page_no, name, len(cells), local, unused, max(sizes, default=0), (page_no - 1) * size_of_page
    for index, (cell, size) in enumerate(zip(cells, sizes, strict=True)):
        if size > limit:
            yield from _chain(pager, cell, size - layout.local_size(size, limit), f"{path}{index:03x}+")
        if kind < 8:
            yield from _walk(pager, int.from_bytes(cell[:4], "big"), f"{path}{index:03x}/", depth + 1)
    if kind < 8:
        yield from _walk(pager, int.from_bytes(page[at + 8 : at + 12], "big"), f"{path}{len(cells):03x}/", depth + 1)


def _chain(pager: Pager, cell: bytes, size: int, path: str) -> Iterator[StatRow]:
    room = pager.usable_size - 4
    if size > room * pager.page_count:
        raise errors.corrupt()
    page_no = int.from_bytes(cell[-4:], "big")
    index = 0
    while size > 0:
        used = min(size, room)
        yield f"{path}{index:06x}", page_no, "overflow", 0, used, room - used, 0, 0
        size -= used
        page_no = int.from_bytes(pager.get(page_no)[:4], "big")
        index += 1
