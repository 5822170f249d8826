"""The structural part of ``PRAGMA integrity_check``: freelist, trees and page coverage, with the real one's messages and order.

A tree is walked with its right-most child first and then its cells from last to first; every page may be referenced once.  The content
checks (rows against their indexes and constraints) belong to the command that calls this.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages import pointer_map
from sqlvec.pages.page import INTERIOR_TABLE, LEAF_TABLE, unpack_header, unpack_u16, unpack_u32
from sqlvec.pages.page_edit import cell_size, free_space
from sqlvec.pages.record import get_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlvec.pages.pager import Pager

_MAX_ROWID = 0x7FFFFFFFFFFFFFFF


def _signed(page_no: int) -> int:
    """Page numbers are printed as signed 32-bit numbers."""
    return page_no - (1 << 32) if page_no >> 31 else page_no


class _Full(Exception):
    """The message limit is reached."""


class StructureCheck:
    """One check of one database."""

    __slots__ = ("cell", "limit", "messages", "pager", "prefix", "seen")

    def __init__(self, pager: Pager, limit: int) -> None:
        self.pager = pager
        self.limit = limit
        self.messages: list[str] = []
        self.prefix = ""
        self.cell = 0
        self.seen = bytearray(pager.page_count + 1)
        if pager.pending_page <= pager.page_count:
            self.seen[pager.pending_page] = 1

    def say(self, text: str, prefix: str | None = None) -> None:
        self.messages.append((self.prefix if prefix is None else prefix) + text)
        if len(self.messages) >= self.limit:
            raise _Full

    def refer(self, page_no: int) -> bool:
        """Note a reference; False when the page can't be visited."""
        if page_no == 0 or page_no > self.pager.page_count:
            self.say(f"invalid page number {_signed(page_no)}")
            return False
        if self.seen[page_no]:
            self.say(f"2nd reference to page {page_no}")
            return False
        self.seen[page_no] = 1
        return True

    def check_map(self, page_no: int, kind: int, parent: int) -> None:
        """Compare a pointer-map entry with what the tree says."""
        try:
            got = pointer_map.read_entry(self.pager, page_no)
        except (errors.SqlError, IndexError):
            self.say(f"Failed to read ptrmap key={_signed(page_no)}")
            return
        if got != (kind, parent):
            self.say(f"Bad ptr map entry key={_signed(page_no)} expected=({kind},{parent}) got=({got[0]},{_signed(got[1])})")

    # --- lists ---------------------------------------------------------------------------------------------------------------------

    def chain(self, page_no: int, expected: int, is_freelist: bool) -> None:
        """A freelist or an overflow chain."""
        pager = self.pager
        maps = pager.auto_vacuum
        left = expected
        before = len(self.messages)
        while page_no:
            if not self.refer(page_no):
                break
            left -= 1
            page = pager.get(page_no)
            following = unpack_u32(page, 0)[0]
            if is_freelist:
                leaves = unpack_u32(page, 4)[0]
                if maps:
                    self.check_map(page_no, pointer_map.FREE, 0)
                if leaves > pager.usable_size // 4 - 2:
                    self.say(f"freelist leaf count too big on page {page_no}")
                    left -= 1
                else:
                    for index in range(leaves):
                        leaf = unpack_u32(page, 8 + 4 * index)[0]
                        if maps:
                            self.check_map(leaf, pointer_map.FREE, 0)
                        self.refer(leaf)
                    left -= leaves
            elif maps and left:
                self.check_map(following, pointer_map.OVERFLOW_NEXT, page_no)
            page_no = following
        if left and len(self.messages) == before:
            what = "size" if is_freelist else "overflow list length"
            self.say(f"{what} is {expected - left} but should be {expected}")

    # --- trees ---------------------------------------------------------------------------------------------------------------------

    def tree(self, page_no: int, max_key: int) -> tuple[int, int]:
        """Check a subtree; returns its depth and its smallest rowid."""
        pager = self.pager
        if page_no == 0 or not self.refer(page_no):
            return 0, max_key
        page = pager.get(page_no)
        at = 100 if page_no == 1 else 0
        usable = pager.usable_size
        outer = self.prefix
        outer_cell = self.cell
        kind, _, count, content, _ = unpack_header(page, at)
        self.prefix = f"Page {page_no}: "
        if kind not in (2, 5, 10, 13) or count > (pager.page_size - 8) // 6:
            self.say("btreeInitPage() returns error code 11")
            self.prefix = outer
            return 0, max_key
        try:
            free_space(page, at, usable)
        except (errors.SqlError, IndexError):
            self.say("free space corruption")
            self.prefix = outer
            return 0, max_key
        depth, max_key, covered = self._cells(page_no, page, kind, count, content or 65536, max_key)
        if covered is not None:
            self._coverage(page_no, page, at, content or 65536, covered)
        self.prefix = outer
        self.cell = outer_cell
        return depth + 1, max_key

    def _cells(
        self, page_no: int, page: bytes | bytearray, kind: int, count: int, content: int, max_key: int
    ) -> tuple[int, int, list[tuple[int, int]] | None]:
        pager = self.pager
        usable = pager.usable_size
        at = 100 if page_no == 1 else 0
        is_leaf = kind > 8
        maps = pager.auto_vacuum
        depth = -1
        may_equal = True
        first = at + (8 if is_leaf else 12)
        covered: list[tuple[int, int]] | None = []
        cell_prefix = f"On tree page {page_no} cell "
        # a bad right child is reported with the number of the cell that was looked at before
        self.prefix = f"{cell_prefix}{self.cell}: "
        if not is_leaf:
            child = unpack_u32(page, at + 8)[0]
            if maps:
                self.prefix = f"On page {page_no} at right child: "
                self.check_map(child, pointer_map.BTREE, page_no)
            depth, max_key = self.tree(child, max_key)
            may_equal = False
        for index in range(count - 1, -1, -1):
            self.cell = index
            if is_leaf or not maps:
                self.prefix = f"{cell_prefix}{index}: "
            where = unpack_u16(page, first + 2 * index)[0]
            if where < content or where > usable - 4:
                self.say(f"Offset {where} out of range {content}..{usable - 4}")
                covered = None
                continue
            size = max(4, self._size(page, where, kind))
            if where + size > usable:
                self.say("Extends off end of page")
                covered = None
                continue
            if kind in (LEAF_TABLE, INTERIOR_TABLE):
                key = self._rowid(page, where, kind)
                if key > max_key or (key == max_key and not may_equal):
                    self.say(f"Rowid {key} out of order")
                max_key = key
                may_equal = False
            self._overflow(page_no, page, where, size, kind)
            if not is_leaf:
                child = unpack_u32(page, where)[0]
                if maps:
                    self.check_map(child, pointer_map.BTREE, page_no)
                below, max_key = self.tree(child, max_key)
                may_equal = False
                if below != depth:
                    self.say("Child page depth differs")
                    depth = below
            if covered is not None:
                covered.append((where, where + size - 1))
        return depth, max_key, covered

    def _size(self, page: bytes | bytearray, where: int, kind: int) -> int:
        try:
            return cell_size(page, where, kind, self.pager.layout)
        except IndexError:
            return 1 << 30

    def _rowid(self, page: bytes | bytearray, where: int, kind: int) -> int:
        if kind == INTERIOR_TABLE:
            key = get_varint(page, where + 4)[0]
        else:
            key = get_varint(page, get_varint(page, where)[1])[0]
        return key - (1 << 64) if key > _MAX_ROWID else key

    def _overflow(self, page_no: int, page: bytes | bytearray, where: int, size: int, kind: int) -> None:
        layout = self.pager.layout
        if kind == INTERIOR_TABLE:
            return
        payload = get_varint(page, where + (4 if kind < 8 else 0))[0]
        limit = layout.max_leaf if kind == LEAF_TABLE else layout.max_index
        if payload <= limit:
            return
        pages = -(-(payload - layout.local_size(payload, limit)) // (layout.usable - 4))
        first = unpack_u32(page, where + size - 4)[0]
        if self.pager.auto_vacuum:
            self.check_map(first, pointer_map.OVERFLOW_FIRST, page_no)
        self.chain(first, pages, False)

    def _coverage(self, page_no: int, page: bytes | bytearray, at: int, content: int, covered: list[tuple[int, int]]) -> None:
        """Every byte of the content area belongs to one cell, one free block or the fragments."""
        usable = self.pager.usable_size
        block = unpack_u16(page, at + 1)[0]
        while block:
            covered.append((block, block + unpack_u16(page, block + 2)[0] - 1))
            block = unpack_u16(page, block)[0]
        covered.sort()
        previous = content - 1
        fragments = 0
        for start, end in covered:
            if previous >= start:
                self.say(f"Multiple uses for byte {start} of page {page_no}", "")
                if (start, end) != covered[-1]:
                    return
                break
            fragments += start - previous - 1
            previous = end
        fragments += usable - previous - 1
        if fragments != page[at + 7]:
            self.say(f"Fragmentation of {fragments} bytes reported as {page[at + 7]} on page {page_no}", "")


def check_structure(pager: Pager, roots: Sequence[int], limit: int = 100) -> list[str]:
    """Messages about a database whose trees have these roots (in the order to be checked), at most ``limit``.

    A first root of 0 makes the check partial: only these trees, neither unused pages nor, unless the schema is the next root, the freelist.
    """
    check = StructureCheck(pager, limit)
    partial = bool(roots) and roots[0] == 0
    try:
        _check(check, roots, partial)
    except _Full:
        pass
    return check.messages


def _check(check: StructureCheck, roots: Sequence[int], partial: bool) -> None:
    pager = check.pager
    if pager.page_count == 0 or check.limit <= 0:
        return
    maps = pager.auto_vacuum
    if not partial or 1 in roots[1:2]:
        check.prefix = "Main freelist: "
        check.chain(pager.header("freelist_trunk"), pager.header("freelist_count"), True)
        check.prefix = ""
        largest = pager.header("largest_root")
        if maps:
            top = max(roots, default=0)
            if top != largest:
                check.say(f"max rootpage ({top}) disagrees with header ({largest})")
        elif pager.header("incremental_vacuum"):
            check.say("incremental_vacuum enabled with a max rootpage of zero")
    for root in roots:
        if root == 0:
            continue
        if maps and root > 1 and not partial:
            check.check_map(root, pointer_map.ROOT, 0)
        check.tree(root, _MAX_ROWID)
        check.prefix = ""
    if partial:
        return
    for page_no in range(1, pager.page_count + 1):
        is_map = bool(maps) and pointer_map.is_map_page(pager, page_no)
        if not check.seen[page_no] and not is_map:
            check.say(f"Page {page_no} is never used")
        if check.seen[page_no] and is_map:
            check.say(f"Pointer map page {page_no} is referenced")
