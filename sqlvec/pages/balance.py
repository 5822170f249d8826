"""Keeping b-trees balanced, with the page layouts that the real writer produces (file format facts; manual section 1.6).

A page that got one cell too many is *overfull*: its cells live in ``Balancer.overfull`` as a list until a redistribution over the
neighbours finds room.  The loop goes from the leaf upwards; on each level one of four steps applies:

- *deeper*: the overfull root hands its content to a new child;
- *quick*: a row appended behind the right-most leaf starts a new leaf, the old one stays full;
- *redistribute*: up to three neighbours share their cells anew, on one to five pages;
- *shallower*: a root left with a single child takes its content.

Invariants:

B1. A short index leaf cell may carry its padding; moving up to be a divider it gets its true bytes behind the child number.
B2. In index trees one entry between two neighbours is the divider; in table trees dividers above leaves are made from rowids.
B3. An overfull page keeps all its cells but the one in waiting; cells are dropped from it only before others are inserted.
B4. Every page number written into a parent is journalled with it, and its pointer-map entry follows (auto-vacuum).
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages import pointer_map
from sqlvec.pages.page import INTERIOR_INDEX, INTERIOR_TABLE, LEAF_INDEX, LEAF_TABLE, unpack_u16, unpack_u32
from sqlvec.pages.page_edit import (
    build_page,
    capacity,
    cell_overflow,
    cell_size,
    cells_size,
    drop_cell,
    first_pointer,
    free_space,
    insert_cell,
    page_cells,
    sizes_on_page,
)
from sqlvec.pages.record import get_varint, put_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.pages.pager import Pager

MOST_PAGES = 5


class Balancer:
    """One balancing pass over the path ``[(page, child index) ...]`` from the root to the changed page."""

    __slots__ = ("appended", "bulk", "layout", "overfull", "pager", "path", "waiting_at")

    def __init__(self, pager: Pager, path: list[tuple[int, int]], bulk: bool = False) -> None:
        self.pager = pager
        self.layout = pager.layout
        self.path = path
        self.overfull: dict[int, list[bytes]] = {}
        self.waiting_at: dict[int, int] = {}
        self.appended: bytes | None = None
        self.bulk = bulk

    # --- cells of a page, overfull or not ------------------------------------------------------------------------------------------

    def kind(self, page_no: int) -> int:
        return self.pager.get(page_no)[100 if page_no == 1 else 0]

    def count(self, page_no: int) -> int:
        """Number of cells, those in waiting included."""
        cells = self.overfull.get(page_no)
        if cells is not None:
            return len(cells)
        return int(unpack_u16(self.pager.get(page_no), (100 if page_no == 1 else 0) + 3)[0])

    def cells(self, page_no: int) -> list[bytes]:
        """The cells, as a list that the caller may keep."""
        waiting = self.overfull.get(page_no)
        return waiting if waiting is not None else page_cells(self.pager.get(page_no), page_no, self.layout)

    def cell(self, page_no: int, index: int) -> bytes:
        waiting = self.overfull.get(page_no)
        if waiting is not None:
            return waiting[index]
        page = self.pager.get(page_no)
        at = 100 if page_no == 1 else 0
        kind = page[at]
        where = unpack_u16(page, first_pointer(kind, at) + 2 * index)[0]
        return bytes(page[where : where + cell_size(page, where, kind, self.layout)])

    def right_child(self, page_no: int) -> int:
        return int(unpack_u32(self.pager.get(page_no), (100 if page_no == 1 else 0) + 8)[0])

    def child(self, page_no: int, index: int, count: int) -> int:
        if index == count:
            return self.right_child(page_no)
        return int.from_bytes(self.cell(page_no, index)[:4], "big")

    def insert(self, page_no: int, index: int, cell: bytes) -> None:
        """Put a cell on the page, or make the page overfull."""
        waiting = self.overfull.get(page_no)
        if waiting is not None:
            waiting.insert(index, cell)
            return
        pager = self.pager
        page = pager.write(page_no)
        pager.nodes.pop(page_no, None)
        at = 100 if page_no == 1 else 0
        if max(len(cell), 4) + 2 <= free_space(page, at, self.layout.usable):
            insert_cell(page, page_no, index, cell, self.layout)
            keys = pager.leaf_keys.get(page_no)
            if keys is not None:
                # decoded again when a search meets it
                keys.insert(index, None)
            if (page[at] < 8 or len(cell) > self.layout.min_local) and pager.auto_vacuum:
                self._map_cell(page_no, page[at], cell)
            return
        cells = page_cells(page, page_no, self.layout)
        self.appended = cell if index == len(cells) else None
        cells.insert(index, cell)
        self.overfull[page_no] = cells
        self.waiting_at[page_no] = index

    def drop(self, page_no: int, index: int) -> None:
        """Take a cell away."""
        waiting = self.overfull.get(page_no)
        if waiting is not None:
            # the page itself holds all cells but the one in waiting; without that one it is an ordinary page again (B3)
            place = self.waiting_at[page_no]
            if index == place:
                del self.overfull[page_no]
                return
            del waiting[index]
            if index < place:
                self.waiting_at[page_no] = place - 1
            else:
                index -= 1
        pager = self.pager
        page = pager.write(page_no)
        pager.nodes.pop(page_no, None)
        keys = pager.leaf_keys.get(page_no)
        if keys is not None:
            del keys[index]
        at = 100 if page_no == 1 else 0
        where = unpack_u16(page, first_pointer(page[at], at) + 2 * index)[0]
        drop_cell(page, page_no, index, cell_size(page, where, page[at], self.layout), self.layout, pager.secure_delete != 0)

    def set_child(self, page_no: int, index: int, count: int, child: int) -> None:
        """Let child ``index`` of an interior page be ``child``."""
        waiting = self.overfull.get(page_no)
        number = child.to_bytes(4, "big")
        if waiting is not None and index < count:
            waiting[index] = number + waiting[index][4:]
            return
        page = self.pager.write(page_no)
        self.pager.forget_node(page_no)
        at = 100 if page_no == 1 else 0
        where = at + 8 if index == count else unpack_u16(page, at + 12 + 2 * index)[0]
        page[where : where + 4] = number

    # --- the loop ------------------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Balance from the end of the path up to the root."""
        path = self.path
        usable = self.layout.usable
        pager = self.pager
        while path:
            page_no, _ = path[-1]
            is_overfull = page_no in self.overfull
            if len(path) == 1:
                if not is_overfull:
                    return
                self._deeper(page_no)
                continue
            if not is_overfull and 3 * free_space(pager.get(page_no), 0, usable) <= 2 * usable:
                return
            parent, index = path[-2]
            if (
                is_overfull
                and self.appended is not None
                and parent != 1
                and pager.get(page_no)[0] == LEAF_TABLE
                and index == self.count(parent)
            ):
                self._quick(parent, page_no)
            else:
                self._redistribute(parent, index, is_root=len(path) == 2)
            path.pop()

    def _deeper(self, root: int) -> None:
        pager = self.pager
        child, page = pager.allocate(root)
        pager.forget_node(child)
        page_one = pager.write(root)
        at = 100 if root == 1 else 0
        kind = page_one[at]
        right = self.right_child(root) if kind < 8 else 0
        # the child gets what is on the page; the waiting list, which includes it, goes along
        present = page_cells(page_one, root, self.layout)
        build_page(page, child, kind, present, self.layout.usable, right)
        self.overfull[child] = self.overfull.pop(root)
        self.waiting_at[child] = self.waiting_at[root]
        inner = INTERIOR_TABLE if kind in (LEAF_TABLE, INTERIOR_TABLE) else INTERIOR_INDEX
        build_page(page_one, root, inner, [], self.layout.usable, child)
        pager.forget_node(root)
        if pager.auto_vacuum:
            pointer_map.write_entry(pager, child, pointer_map.BTREE, root)
            self._map_cells(child, kind, present)
            if right:
                pointer_map.write_entry(pager, right, pointer_map.BTREE, child)
        self.path[0] = (root, 0)
        self.path.append((child, -1))

    def _quick(self, parent: int, page_no: int) -> None:
        pager = self.pager
        cells = self.overfull.pop(page_no)
        fresh, page = pager.allocate(0)
        build_page(page, fresh, LEAF_TABLE, cells[-1:], self.layout.usable)
        last = cells[-2]
        rowid = get_varint(last, get_varint(last, 0)[1])[0]
        if pager.auto_vacuum:
            pointer_map.write_entry(pager, fresh, pointer_map.BTREE, parent)
            self._map_cells(fresh, LEAF_TABLE, cells[-1:])
        count = self.count(parent)
        self.appended = None
        self.insert(parent, count, page_no.to_bytes(4, "big") + put_varint(rowid))
        self.set_child(parent, count + 1, count + 1, fresh)

    # --- redistribution ------------------------------------------------------------------------------------------------------------

    def _siblings(self, parent: int, index: int) -> tuple[int, int]:
        """(first sibling, number of dividers between the siblings)."""
        count = self.count(parent)
        if count < 2:
            return 0, count
        dividers = 1 if self.bulk else 2
        if index == 0:
            return 0, dividers
        if index == count:
            return count - dividers, dividers
        return index - 1, dividers

    def _redistribute(self, parent: int, index: int, is_root: bool) -> None:
        pager = self.pager
        first, between = self._siblings(parent, index)
        parent_count = self.count(parent)
        old = [self.child(parent, first + i, parent_count) for i in range(between + 1)]
        if len(set(old)) != len(old) or parent in old:
            raise errors.corrupt()
        dividers = [self.cell(parent, first + i) for i in range(between)]
        kind = self.kind(old[0])
        for page_no in old:
            if self.kind(page_no) != kind:
                raise errors.corrupt()
            pager.write(page_no)
        cells, ends = self._gather(old, dividers, kind)
        keys = self._gather_keys(old, kind)
        last_right = self.right_child(old[-1]) if kind < 8 else 0
        room = capacity(kind, 0, self.layout.usable)
        ends = distribute(cells, ends, room, kind == LEAF_TABLE, self.bulk)
        for page_no in old:
            self.overfull.pop(page_no, None)
        for _ in range(between):
            self.drop(parent, first)
        pages = self._pages_for(old, len(ends))
        self._build(parent, first, pages, cells, ends, kind, last_right)
        if keys:
            start = 0
            for page_no, end in zip(pages, ends, strict=True):
                pager.leaf_keys[page_no] = keys[start:end]
                start = end if kind == LEAF_TABLE else end + 1
        if is_root and len(pages) == 1 and self.count(parent) == 0 and parent not in self.overfull:
            self._shallower(parent, pages[0])
        for page_no in old[len(ends) :]:
            pager.free(page_no)

    def _gather(self, old: list[int], dividers: list[bytes], kind: int) -> tuple[list[bytes], list[int]]:
        """All cells of the siblings in order with the dividers that count, and where each page ends."""
        cells: list[bytes] = []
        ends: list[int] = []
        for i, page_no in enumerate(old):
            cells += self.cells(page_no)
            ends.append(len(cells))
            if i < len(dividers) and kind != LEAF_TABLE:
                if kind == LEAF_INDEX:
                    cells.append(dividers[i][4:])
                else:
                    cells.append(self.right_child(page_no).to_bytes(4, "big") + dividers[i][4:])
        return cells, ends

    def _gather_keys(self, old: list[int], kind: int) -> list[Any]:
        """Decoded keys that go along with the cells (None where unknown); nothing for interior pages."""
        if kind < 8:
            return []
        keys: list[Any] = []
        for i, page_no in enumerate(old):
            count = self.count(page_no)
            known = self.pager.leaf_keys.get(page_no)
            if known is None or len(known) + (page_no in self.overfull) != count:
                keys += [None] * count
            else:
                keys += known
                if page_no in self.overfull:
                    keys.insert(len(keys) - len(known) + self.waiting_at[page_no], None)
            if i < len(old) - 1 and kind == LEAF_INDEX:
                keys.append(None)
        return keys

    def _pages_for(self, old: list[int], wanted: int) -> list[int]:
        """Numbers of the pages that the cells go to, ascending: the old ones first, new ones where more are needed."""
        pages = old[:wanted]
        near = old[0]
        while len(pages) < wanted:
            near, _ = self.pager.allocate(near)
            pages.append(near)
        pages.sort()
        return pages

    def _build(self, parent: int, first: int, pages: list[int], cells: list[bytes], ends: list[int], kind: int, last_right: int) -> None:
        """Fill the pages and put their dividers into the parent."""
        pager = self.pager
        usable = self.layout.usable
        start = 0
        maps = pager.auto_vacuum
        last = len(pages) - 1
        self.set_child(parent, first, self.count(parent), pages[last])
        for i, page_no in enumerate(pages):
            end = ends[i]
            own = cells[start:end]
            right = last_right if i == last else 0
            divider = b""
            if i < last:
                start = end if kind == LEAF_TABLE else end + 1
                if kind == LEAF_TABLE:
                    cell = own[-1]
                    divider = put_varint(get_varint(cell, get_varint(cell, 0)[1])[0])
                elif kind == LEAF_INDEX:
                    divider = cells[end]
                    if len(divider) == 4:
                        divider = divider[: divider[0] + 1]
                else:
                    right = int.from_bytes(cells[end][:4], "big")
                    divider = cells[end][4:]
            pager.forget_node(page_no)
            build_page(pager.write(page_no), page_no, kind, own, usable, right)
            if maps:
                pointer_map.write_entry(pager, page_no, pointer_map.BTREE, parent)
                self._map_cells(page_no, kind, own)
                if kind < 8:
                    pointer_map.write_entry(pager, right, pointer_map.BTREE, page_no)
            if i < last:
                self.appended = None
                self.insert(parent, first + i, page_no.to_bytes(4, "big") + divider)
                self.appended = None

    def _shallower(self, root: int, child: int) -> None:
        pager = self.pager
        kind = self.kind(child)
        cells = self.cells(child)
        if cells_size(cells) > capacity(kind, root, self.layout.usable):
            return
        right = self.right_child(child) if kind < 8 else 0
        build_page(pager.write(root), root, kind, cells, self.layout.usable, right)
        pager.forget_node(root)
        if pager.auto_vacuum:
            self._map_cells(root, kind, cells)
            if kind < 8:
                pointer_map.write_entry(pager, right, pointer_map.BTREE, root)
        pager.free(child)

    # --- pointer map ---------------------------------------------------------------------------------------------------------------

    def _map_cells(self, page_no: int, kind: int, cells: list[bytes]) -> None:
        for cell in cells:
            self._map_cell(page_no, kind, cell)

    def _map_cell(self, page_no: int, kind: int, cell: bytes) -> None:
        if kind < 8:
            pointer_map.write_entry(self.pager, int.from_bytes(cell[:4], "big"), pointer_map.BTREE, page_no)
        overflow = cell_overflow(cell, kind, self.layout)
        if overflow:
            pointer_map.write_entry(self.pager, overflow, pointer_map.OVERFLOW_FIRST, page_no)


def distribute(cells: list[bytes], ends: list[int], room: int, is_table_leaf: bool, bulk: bool) -> list[int]:
    """Where each new page ends: ``ends`` of the old pages in, ends of the new pages out.

    Left to right every page gives away what doesn't fit and takes what does; then, from the right, cells move over while that makes two
    neighbours more even.
    """
    count = len(cells)
    sizes = [size + 2 for size in sizes_on_page(cells)]
    ends = list(ends)
    used = []
    start = 0
    for end in ends:
        used.append(sum(sizes[start:end]))
        start = end if is_table_leaf else end + 1
    pages = len(ends)
    i = 0
    while i < pages:
        while used[i] > room:
            if i + 1 >= pages:
                pages = i + 2
                if pages > MOST_PAGES:
                    raise errors.corrupt()
                used.append(0)
                ends.append(count)
            size = sizes[ends[i] - 1]
            used[i] -= size
            if not is_table_leaf:
                size = sizes[ends[i]] if ends[i] < count else 0
            used[i + 1] += size
            ends[i] -= 1
        while ends[i] < count:
            size = sizes[ends[i]]
            if used[i] + size > room:
                break
            used[i] += size
            ends[i] += 1
            if not is_table_leaf:
                size = sizes[ends[i]] if ends[i] < count else 0
            if i + 1 < pages:
                used[i + 1] -= size
        if ends[i] >= count:
            pages = i + 1
            break
        if ends[i] <= (ends[i - 1] if i else 0):
            raise errors.corrupt()
        i += 1
    del ends[pages:]
    for i in range(pages - 1, 0, -1):
        right = used[i]
        left = used[i - 1]
        r = ends[i - 1] - 1
        d = r if is_table_leaf else r + 1
        while r >= 0:
            if right and (bulk or right + sizes[d] > left - (sizes[r] - (2 if i == pages - 1 else 0))):
                break
            right += sizes[d]
            left -= sizes[r]
            ends[i - 1] = r
            r -= 1
            d -= 1
        used[i] = right
        used[i - 1] = left
        if ends[i - 1] <= (ends[i - 2] if i > 1 else 0):
            raise errors.corrupt()
    return ends
