"""B-tree pages: headers, cells and the local part of payloads (file format, section 1.6 "B-tree Pages").

::

    0 or 100      +8 / +12                content start              usable
    | page header | cell pointers ... gap | cells and free blocks ... | reserved |

This module only reads.  A page image is ``bytes`` or ``bytearray``; everything here checks its bounds and answers damage with
``errors.corrupt()``.  Invariants:

P1. A cell of payload size P is local up to ``max_local``; beyond that ``local_size`` bytes stay and four bytes name the first overflow
    page.
P2. A cell takes at least four bytes of its page.
P3. Page 1 carries the 100 byte file header before its page header; nothing else differs.
"""
from __future__ import annotations

from struct import Struct
from struct import error as StructError

from sqlvec import errors
from sqlvec.pages.record import get_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Page = bytes | bytearray
    ReadOverflow = Callable[[int, int], bytes]

INTERIOR_INDEX = 2
INTERIOR_TABLE = 5
LEAF_INDEX = 10
LEAF_TABLE = 13
MAX_DEPTH = 20

HEADER = Struct(">BHHHB")
U16 = Struct(">H")
U32 = Struct(">I")
unpack_header = HEADER.unpack_from
unpack_u16 = U16.unpack_from
unpack_u32 = U32.unpack_from
_pointer_arrays: dict[int, Struct] = {}


class Layout:
    """The sizes that follow from the usable size of a page: how much of a payload is local (P1)."""

    __slots__ = ("max_index", "max_leaf", "min_local", "most_cells", "page_size", "usable")

    def __init__(self, page_size: int, usable: int) -> None:
        self.page_size = page_size
        self.usable = usable
        self.most_cells = (page_size - 8) // 6     # a cell takes four bytes (P2) and two for its pointer
        self.max_leaf = usable - 35
        self.max_index = (usable - 12) * 64 // 255 - 23
        self.min_local = (usable - 12) * 32 // 255 - 23

    def local_size(self, payload_size: int, max_local: int) -> int:
        """Bytes of a payload that are kept in the cell."""
        if payload_size <= max_local:
            return payload_size
        low = self.min_local
        local = low + (payload_size - low) % (self.usable - 4)
        return local if local <= max_local else low


def header_offset(page_no: int) -> int:
    """Where the page header begins (P3)."""
    return 100 if page_no == 1 else 0


def pointer_array(count: int) -> Struct:
    """The Struct of ``count`` cell pointers."""
    found = _pointer_arrays.get(count)
    if found is None:
        found = _pointer_arrays[count] = Struct(f">{count}H")
    return found


def cell_pointers(page: Page, page_no: int, layout: Layout) -> tuple[int, tuple[int, ...]]:
    """Page type and cell offsets; damage raises."""
    at = 100 if page_no == 1 else 0
    kind = page[at]
    if kind in (LEAF_TABLE, LEAF_INDEX):
        first = at + 8
    elif kind in (INTERIOR_TABLE, INTERIOR_INDEX):
        first = at + 12
    else:
        raise errors.corrupt()
    count = page[at + 3] << 8 | page[at + 4]
    if count > layout.most_cells:
        raise errors.corrupt()
    return kind, (_pointer_arrays.get(count) or pointer_array(count)).unpack_from(page, first)


def table_leaf(page: bytes, page_no: int, layout: Layout, read_overflow: ReadOverflow) -> list[tuple[int, bytes]]:
    """All (rowid, payload) of a table leaf, payloads complete."""
    usable = layout.usable
    kind, pointers = cell_pointers(page, page_no, layout)
    if kind != LEAF_TABLE:
        raise errors.corrupt()
    max_leaf = layout.max_leaf
    out: list[tuple[int, bytes]] = []
    append = out.append
    try:
        for at in pointers:
            size = page[at]
            at += 1
            if size > 127:
                byte = page[at]
                if byte < 128:
                    size = (size & 127) << 7 | byte
                    at += 1
                else:
                    size, at = get_varint(page, at - 1)
            rowid = page[at]
            at += 1
            if rowid > 127:
                byte = page[at]
                if byte < 128:
                    rowid = (rowid & 127) << 7 | byte
                    at += 1
                else:
                    third = page[at + 1]
                    if third < 128:
                        rowid = (rowid & 127) << 14 | (byte & 127) << 7 | third
                        at += 2
                    else:
                        rowid, at = get_varint(page, at - 1)
                        if rowid > 0x7FFFFFFFFFFFFFFF:
                            rowid -= 0x10000000000000000
            if size <= max_leaf:
                end = at + size
                if end > usable or not size:
                    raise errors.corrupt()
                append((rowid, page[at:end]))
            else:
                append((rowid, spilled_payload(page, at, size, max_leaf, layout, read_overflow)))
    except IndexError:
        raise errors.corrupt() from None
    return out


def spilled_payload(page: Page, at: int, size: int, max_local: int, layout: Layout, read_overflow: ReadOverflow) -> bytes:
    """A payload whose tail lies on overflow pages."""
    local = layout.local_size(size, max_local)
    end = at + local
    if end + 4 > layout.usable:
        raise errors.corrupt()
    first = unpack_u32(page, end)[0]
    return bytes(page[at:end]) + read_overflow(first, size - local)


def index_leaf(page: bytes, page_no: int, layout: Layout, read_overflow: ReadOverflow) -> list[bytes]:
    """All payloads of an index leaf, complete."""
    kind, pointers = cell_pointers(page, page_no, layout)
    if kind != LEAF_INDEX:
        raise errors.corrupt()
    return index_payloads(page, pointers, 0, layout, read_overflow)


def index_payloads(page: Page, pointers: tuple[int, ...], skip: int, layout: Layout, read_overflow: ReadOverflow) -> list[bytes]:
    """The payloads at ``pointers``; ``skip`` is 4 on interior pages (the child number)."""
    usable = layout.usable
    max_index = layout.max_index
    out: list[bytes] = []
    append = out.append
    try:
        for at in pointers:
            at += skip
            size = page[at]
            at += 1
            if size > 127:
                byte = page[at]
                if byte < 128:
                    size = (size & 127) << 7 | byte
                    at += 1
                else:
                    size, at = get_varint(page, at - 1)
            if size <= max_index:
                end = at + size
                if end > usable or not size:
                    raise errors.corrupt()
                append(page[at:end])  # type: ignore[arg-type]
            else:
                append(spilled_payload(page, at, size, max_index, layout, read_overflow))
    except IndexError:
        raise errors.corrupt() from None
    return out


def table_interior(page: Page, page_no: int, layout: Layout) -> tuple[list[int], list[int]]:
    """Keys (largest rowid of each left child) and children (one more than keys) of an interior table page."""
    kind, pointers = cell_pointers(page, page_no, layout)
    if kind != INTERIOR_TABLE:
        raise errors.corrupt()
    keys: list[int] = []
    children: list[int] = []
    try:
        for at in pointers:
            children.append(page[at] << 24 | page[at + 1] << 16 | page[at + 2] << 8 | page[at + 3])
            key = page[at + 4]
            if key > 127:
                second = page[at + 5]
                if second < 128:
                    key = (key & 127) << 7 | second
                elif page[at + 6] < 128:
                    key = (key & 127) << 14 | (second & 127) << 7 | page[at + 6]
                else:
                    key = get_varint(page, at + 4)[0]
                    if key > 0x7FFFFFFFFFFFFFFF:
                        key -= 0x10000000000000000
            keys.append(key)
        children.append(unpack_u32(page, header_offset(page_no) + 8)[0])
    except (IndexError, StructError):
        raise errors.corrupt() from None
    return keys, children


def index_interior(page: Page, page_no: int, layout: Layout, read_overflow: ReadOverflow) -> tuple[list[bytes], list[int]]:
    """Payloads and children (one more than payloads) of an interior index page."""
    kind, pointers = cell_pointers(page, page_no, layout)
    if kind != INTERIOR_INDEX:
        raise errors.corrupt()
    try:
        children = [unpack_u32(page, at)[0] for at in pointers]
        children.append(unpack_u32(page, header_offset(page_no) + 8)[0])
    except StructError:
        raise errors.corrupt() from None
    return index_payloads(bytes(page), pointers, 4, layout, read_overflow), children


def rowid_at(page: Page, at: int) -> int:
    """The rowid of the table leaf cell at offset ``at``."""
    while page[at] > 127:
        at += 1
    rowid = get_varint(page, at + 1)[0]
    return rowid - 0x10000000000000000 if rowid > 0x7FFFFFFFFFFFFFFF else rowid


def leaf_payload(page: Page, at: int, layout: Layout, read_overflow: ReadOverflow) -> tuple[int, bytes]:
    """(rowid, complete payload) of the table leaf cell at offset ``at``."""
    size, at = get_varint(page, at)
    rowid, at = get_varint(page, at)
    if rowid > 0x7FFFFFFFFFFFFFFF:
        rowid -= 0x10000000000000000
    if size <= layout.max_leaf:
        end = at + size
        if end > layout.usable:
            raise errors.corrupt()
        return rowid, bytes(page[at:end])
    return rowid, spilled_payload(page, at, size, layout.max_leaf, layout, read_overflow)
