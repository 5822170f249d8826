"""What can be read of damaged b-tree pages.

SQLite looks at a cell when it comes to it, and at the bytes of a column when somebody wants the column: rows in front of a damaged one are
delivered, and damage that nobody reads isn't noticed.  The readers in ``page`` parse a leaf as a whole; when that fails they come here, cell by cell.

1. Cell offsets wrap at the page size; what would be read behind the page is zero.
2. A payload that can't be had in full (it runs off its page, its overflow chain breaks) is delivered as ``record.Clipped``, as far as it goes.  The record
   decoders raise when they need what is missing; whoever copies payloads as they are must refuse them (``type(payload) is not bytes``).
3. Writers never come here.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages.page import INTERIOR_TABLE, LEAF_TABLE, cell_pointers, header_offset
from sqlvec.pages.record import BrokenChain, Clipped, get_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.pages.pager import Pager

    Page = bytes | bytearray

_BEHIND = bytes(32)
_U32 = 0xFFFFFFFF
_SIGN = 1 << 63


def table_rows(pager: Pager, page_no: int, page: Page) -> list[tuple[int, bytes]]:
    """(rowid, payload) of the cells of a table leaf."""
    kind, pointers = cell_pointers(page, page_no, pager.layout)
    if kind != LEAF_TABLE:
        raise errors.corrupt()
    data = bytes(page) + _BEHIND
    mask = pager.page_size - 1
    rows = []
    for at in pointers:
        size, at = get_varint(data, at & mask)
        rowid, at = get_varint(data, at)
        rows.append((rowid - 2 * _SIGN if rowid >= _SIGN else rowid, _payload(pager, data, at, size & _U32, pager.layout.max_leaf)))
    return rows


def index_payloads(pager: Pager, page: Page, pointers: tuple[int, ...], skip: int) -> list[bytes]:
    """The payloads at ``pointers`` of an index page; ``skip`` is 4 on interior pages."""
    data = bytes(page) + _BEHIND
    mask = pager.page_size - 1
    payloads = []
    for at in pointers:
        size, at = get_varint(data, (at & mask) + skip)
        payloads.append(_payload(pager, data, at, size & _U32, pager.layout.max_index))
    return payloads


def table_interior(pager: Pager, page_no: int, page: Page) -> tuple[list[int], list[int]]:
    """Keys and children of an interior table page."""
    kind, pointers = cell_pointers(page, page_no, pager.layout)
    if kind != INTERIOR_TABLE:
        raise errors.corrupt()
    data = bytes(page) + _BEHIND
    mask = pager.page_size - 1
    keys, children = [], []
    for at in pointers:
        at &= mask
        children.append(int.from_bytes(data[at : at + 4], "big"))
        key = get_varint(data, at + 4)[0]
        keys.append(key - 2 * _SIGN if key >= _SIGN else key)
    at = header_offset(page_no) + 8
    children.append(int.from_bytes(page[at : at + 4], "big"))
    return keys, children


def _payload(pager: Pager, data: bytes, at: int, size: int, max_local: int) -> bytes:
    usable = pager.usable_size
    local = pager.layout.local_size(size, max_local)
    end = at + local
    if not size and data[at]:                      # its header is the byte that follows, and longer than nothing
        return Clipped(b"")
    if local == size and end <= usable:
        return data[at:end]
    piece = data[at : min(end, usable)]
    if local == size:
        return Clipped(piece)
    if end + 4 > usable:
        return BrokenChain(piece)
    rest = _chain(pager, int.from_bytes(data[end : end + 4], "big"), size - local)
    return piece + rest if len(rest) == size - local else BrokenChain(piece + rest)


def _chain(pager: Pager, page_no: int, size: int) -> bytes:
    """What an overflow chain holds of ``size`` bytes, at most the size of the file."""
    room = pager.usable_size - 4
    pieces = []
    for _ in range(pager.page_count):
        if size <= 0 or not 1 <= page_no <= pager.page_count:
            break
        page = pager.get(page_no)
        pieces.append(bytes(page[4 : 4 + min(room, size)]))
        size -= room
        page_no = int.from_bytes(page[:4], "big")
    return b"".join(pieces)
