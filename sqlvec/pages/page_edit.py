"""Changing one b-tree page in place: space for cells, free blocks, defragmenting, rebuilding (file format, section 1.6).

Free space of a page is the gap between pointer array and content, the free blocks (a list in address order, four bytes or more each)
and up to 60 fragment bytes.  Invariants:

E1. A cell occupies at least four bytes.
E2. Free blocks are in ascending order and never closer than four bytes to each other.
E3. A page without cells has no free blocks and no fragments.
"""
from __future__ import annotations

from itertools import accumulate
from struct import Struct

from sqlvec import errors
from sqlvec.pages.page import (
    INTERIOR_INDEX,
    INTERIOR_TABLE,
    LEAF_INDEX,
    LEAF_TABLE,
    Layout,
    cell_pointers,
    pointer_array,
    unpack_header,
    unpack_u16,
)
from sqlvec.pages.record import get_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Page = bytes | bytearray

_PAIR = Struct(">HH")
pack_pair = _PAIR.pack_into
unpack_pair = _PAIR.unpack_from
pack_u16 = Struct(">H").pack_into
pack_header = Struct(">BHHHB").pack_into


def first_pointer(kind: int, at: int) -> int:
    """Offset of the cell pointer array for a page type; ``at`` is the header offset."""
    return at + (12 if kind < 8 else 8)


def capacity(kind: int, page_no: int, usable: int) -> int:
    """Bytes that cells and their pointers may take."""
    return usable - first_pointer(kind, 100 if page_no == 1 else 0)


def free_space(page: Page, at: int, usable: int) -> int:
    """Free bytes of the page whose header is at ``at``."""
    kind, block, count, content, fragments = unpack_header(page, at)
    first = at + (12 if kind < 8 else 8) + 2 * count
    total = (content or 65536) + fragments
    if block:
        if block < (content or 65536):
            raise errors.corrupt()
        while True:
            if block > usable - 4:
                raise errors.corrupt()
            following, size = unpack_pair(page, block)
            total += size
            if following <= block + size + 3:
                break
            block = following
        if following or block + size > usable:
            raise errors.corrupt()
    if total > usable or total < first:
        raise errors.corrupt()
    return total - first  # type: ignore[no-any-return]


def cell_size(page: Page, at: int, kind: int, layout: Layout) -> int:
    """True size of the cell at ``at`` (may be below four)."""
    start = at
    if kind == INTERIOR_TABLE:
        return get_varint(page, at + 4)[1] - start
    if kind == INTERIOR_INDEX:
        at += 4
    size = page[at]
    at += 1
    if size > 127:
        size, at = get_varint(page, at - 1)
    if kind == LEAF_TABLE:
        # at most nine bytes, the ninth (of a negative rowid) whatever its top bit says
        last = at + 8
        while page[at] > 127 and at < last:
            at += 1
        at += 1
        limit = layout.max_leaf
    else:
        limit = layout.max_index
    if size <= limit:
        return at + size - start
    return at + layout.local_size(size, limit) + 4 - start


def cell_overflow(cell: Page, kind: int, layout: Layout) -> int:
    """First overflow page of a cell given as its own bytes, 0 without."""
    if kind == INTERIOR_TABLE:
        return 0
    size, at = get_varint(cell, 4 if kind == INTERIOR_INDEX else 0)
    limit = layout.max_index
    if kind == LEAF_TABLE:
        at = get_varint(cell, at)[1]
        limit = layout.max_leaf
    if size <= limit:
        return 0
    at += layout.local_size(size, limit)
    return int.from_bytes(cell[at : at + 4], "big")


def page_cells(page: Page, page_no: int, layout: Layout) -> list[bytes]:
    """All cells as bytes in order (short ones perhaps with the padding they have on the page)."""
    usable = layout.usable
    page = bytes(page)
    kind, pointers = cell_pointers(page, page_no, layout)
    at = 100 if page_no == 1 else 0
    if pointers and page[at + 1] == page[at + 2] == page[at + 7] == 0:
        # neither free blocks nor fragments: each cell ends where the next one begins
        starts = sorted(pointers)
        if starts[0] == (page[at + 5] << 8 | page[at + 6] or 65536) and starts[-1] <= usable - 4:
            end_of = dict(zip(starts, [*starts[1:], usable], strict=True))
            return [page[start : end_of[start]] for start in pointers]
    skip = 4 if kind == INTERIOR_INDEX else 0
    # short local payloads are cut out here, everything else takes the general way
    short = min(128, layout.max_index + 1) if kind in (LEAF_INDEX, INTERIOR_INDEX) else 0
    out: list[bytes] = []
    append = out.append
    try:
        for at in pointers:
            size = page[at + skip]
            if size < short:
                end = at + skip + size + 1
            else:
                end = at + cell_size(page, at, kind, layout)
            if end > usable:
                raise errors.corrupt()
            append(page[at:end])
    except IndexError:
        raise errors.corrupt() from None
    return out


def sizes_on_page(cells: Sequence[bytes]) -> list[int]:
    """Bytes that each cell occupies (E1)."""
    sizes = list(map(len, cells))
    if sizes and min(sizes) < 4:
        sizes = [size if size > 4 else 4 for size in sizes]
    return sizes


def cells_size(cells: Sequence[bytes]) -> int:
    """Bytes that cells take on a page, pointers included."""
    return sum(sizes_on_page(cells)) + 2 * len(cells)


def build_page(page: bytearray, page_no: int, kind: int, cells: Sequence[bytes], usable: int, right_child: int = 0) -> None:
    """Fill a page anew: cells packed from the end, the first one last."""
    at = 100 if page_no == 1 else 0
    count = len(cells)
    first = first_pointer(kind, at)
    sizes = sizes_on_page(cells)
    offsets = [usable - end for end in accumulate(sizes)]
    content = offsets[-1] if offsets else usable
    gap = first + 2 * count
    if content < gap:
        raise errors.corrupt()
    pack_header(page, at, kind, 0, count, content & 0xFFFF, 0)
    if kind < 8:
        page[at + 8 : at + 12] = right_child.to_bytes(4, "big")
    pointer_array(count).pack_into(page, first, *offsets)
    page[gap:content] = bytes(content - gap)
    pieces = cells[::-1]
    if content != usable - sum(map(len, cells)):
        pieces = [cell.ljust(4, b"\0") for cell in pieces]
    page[content:usable] = b"".join(pieces)


def defragment(page: bytearray, page_no: int, layout: Layout) -> None:
    """Pack the cells so that all free space is the gap."""
    at = 100 if page_no == 1 else 0
    kind = page[at]
    right = int.from_bytes(page[at + 8 : at + 12], "big") if kind < 8 else 0
    build_page(page, page_no, kind, page_cells(page, page_no, layout), layout.usable, right)


def _take_block(page: bytearray, at: int, size: int, fragments: int) -> int:
    """First fit from the free block list; 0 when nothing fits."""
    link = at + 1
    block = unpack_u16(page, link)[0]
    while block:
        following, length = unpack_pair(page, block)
        left = length - size
        if left >= 0:
            if left < 4:
                if fragments > 57:
                    return 0
                pack_u16(page, link, following)
                page[at + 7] = fragments + left
                return block  # type: ignore[no-any-return]
            pack_u16(page, block + 2, left)
            return block + left  # type: ignore[no-any-return]
        link = block
        block = following
        if block and block <= link:
            raise errors.corrupt()
    return 0


def insert_cell(page: bytearray, page_no: int, index: int, cell: bytes, layout: Layout) -> None:
    """Put a cell in; the caller knows that it fits (``free_space`` >= size + 2)."""
    at = 100 if page_no == 1 else 0
    kind, block, count, content, fragments = unpack_header(page, at)
    content = content or 65536
    size = len(cell)
    if size < 4:
        cell += bytes(4 - size)
        size = 4
    first = at + (12 if kind < 8 else 8)
    end = first + 2 * count
    where = 0
    if block and content - end >= 2:
        where = _take_block(page, at, size, fragments)
    if not where:
        if content - end < size + 2:
            defragment(page, page_no, layout)
            content = unpack_u16(page, at + 5)[0] or 65536
            if content - end < size + 2:
                raise errors.corrupt()
        where = content - size
        pack_u16(page, at + 5, where & 0xFFFF)
    page[where : where + size] = cell
    place = first + 2 * index
    if place != end:
        page[place + 2 : end + 2] = page[place:end]
    pack_u16(page, place, where)
    pack_u16(page, at + 3, count + 1)


def drop_cell(page: bytearray, page_no: int, index: int, size: int, layout: Layout, wipe: bool = True) -> None:
    """Take a cell of true size ``size`` out and give its bytes back."""
    at = 100 if page_no == 1 else 0
    kind, _, count, _, _ = unpack_header(page, at)
    first = at + (12 if kind < 8 else 8)
    place = first + 2 * index
    where = unpack_u16(page, place)[0]
    size = max(size, 4)
    if where < first + 2 * count or where + size > layout.usable:
        raise errors.corrupt()
    count -= 1
    if count == 0:
        if wipe:
            page[where : where + size] = bytes(size)
        pack_header(page, at, kind, 0, 0, layout.usable & 0xFFFF, 0)
        return
    end = first + 2 * count
    page[place:end] = page[place + 2 : end + 2]
    pack_u16(page, at + 3, count)
    if wipe:
        page[where : where + size] = bytes(size)
    _free_bytes(page, at, where, size, layout.usable)


def _free_bytes(page: bytearray, at: int, start: int, size: int, usable: int) -> None:
    """Add ``size`` bytes at ``start`` to the free space, joining neighbours at most three bytes away (E2)."""
    link = at + 1
    block = unpack_u16(page, link)[0]
    while block and block < start:
        link = block
        block = unpack_u16(page, block)[0]
        if block and block <= link:
            raise errors.corrupt()
    end = start + size
    fragments = page[at + 7]
    if block:
        if block + 4 > usable or block < end:
            raise errors.corrupt()
        if block <= end + 3:
            fragments -= block - end
            following, length = unpack_pair(page, block)
            end = block + length
            block = following
    if link != at + 1:
        length = unpack_u16(page, link + 2)[0]
        before = link + length
        if before > start:
            raise errors.corrupt()
        if before + 3 >= start:
            fragments -= start - before
            start = link
            # the block in front grows: its own link stays where it is
            link = -1
    if fragments < 0 or end > usable:
        raise errors.corrupt()
    page[at + 7] = fragments
    content = unpack_u16(page, at + 5)[0] or 65536
    if start <= content:
        # only the first block can touch the content start
        if start < content:
            raise errors.corrupt()
        pack_u16(page, at + 1, block)
        pack_u16(page, at + 5, end & 0xFFFF)
        return
    if link >= 0:
        pack_u16(page, link, start)
    pack_pair(page, start, block, end - start)
