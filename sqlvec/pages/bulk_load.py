"""Filling an empty index tree from sorted entries, page by page.

The tree grows at its right edge only.  Per level two pages are open: the last one, which takes cells, and its left sibling.  When a cell doesn't fit, the
sibling first takes back what it can (the cell between the two, then the first ones of the last page), as balancing would; only then a new page begins: the
last cell of the full page moves up between the two, the new cell starts the new page.  A page goes to the pager once, when two newer ones exist.

    level 1            [ d0  d1  .. dk ]            cells between the pages below
    level 0    L0  L1  ..   left   last             d(i) lies between L(i) and L(i+1)

Invariants
 1. The order of allocation is that of single inserts: the new page first, then, when the root must become deeper, the page for its old content.
 2. Every page but the last of a level keeps at least one cell.

Manual: file format, section 1.6.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages.btree_write import make_cell
from sqlvec.pages.page import INTERIOR_INDEX, LEAF_INDEX
from sqlvec.pages.page_edit import build_page
from sqlvec.pages.record import put_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlvec.pages.btree import IndexTree
    from sqlvec.pages.pager import Pager


class _Entry:
    """One cell: on a leaf just its bytes, on an interior page also the ``child`` to its left."""

    __slots__ = ("cell", "child")

    def __init__(self, child: int, cell: bytes) -> None:
        self.child = child
        self.cell = cell


class _Node:
    """A page being filled: ``used`` bytes of cells and pointers, ``right`` the right-most child (interior)."""

    __slots__ = ("entries", "number", "right", "used")

    def __init__(self, number: int) -> None:
        self.number = number
        self.entries: list[_Entry] = []
        self.right = 0
        self.used = 0


class _Level:
    """The open pages of one level and ``between``, the entry of the level above that separates them."""

    __slots__ = ("between", "last", "left")

    def __init__(self, last: _Node) -> None:
        self.left: _Node | None = None
        self.last = last
        self.between: _Entry | None = None


class BulkLoad:
    """The loading of one tree."""

    def __init__(self, tree: IndexTree) -> None:
        self.pager: Pager = tree.pager
        self.root = tree.root
        self.levels = [_Level(_Node(tree.root))]
        self.usable = self.pager.usable_size

    def _room(self, height: int) -> int:
        """Bytes for cells and pointers on a page."""
        return self.usable - (12 if height else 8)

    @staticmethod
    def _size(height: int, entry: _Entry) -> int:
        if height:
            return len(entry.cell) + 6
        return max(len(entry.cell), 4) + 2

    def add(self, cell: bytes) -> None:
        """Append an entry (its leaf cell)."""
        self._append(0, _Entry(0, cell))

    def _append(self, height: int, entry: _Entry) -> None:
        level = self.levels[height]
        size = self._size(height, entry)
        last = level.last
        if last.used + size > self._room(height):
            self._shift_left(height)
            if last.used + size > self._room(height):
                self._new_page(height, entry, size)
                return
        last.entries.append(entry)
        last.used += size

    def _shift_left(self, height: int) -> None:
        """Let the left sibling take cells back from the last page, through the one between them."""
        level = self.levels[height]
        left, last, between = level.left, level.last, level.between
        if left is None or between is None:
            return
        parent = self.levels[height + 1]
        holder = parent.last if between in parent.last.entries else parent.left
        while len(last.entries) > 1 and holder is not None:
            taken = _Entry(left.right, between.cell)
            size = self._size(height, taken)
            first = last.entries[0]
            growth = len(first.cell) - len(between.cell)
            if left.used + size > self._room(height) or holder.used + growth > self._room(height + 1):
                return
            left.entries.append(taken)
            left.used += size
            left.right = first.child
            between.cell = first.cell
            holder.used += growth
            last.used -= self._size(height, first)
            del last.entries[0]

    def _new_page(self, height: int, entry: _Entry, size: int) -> None:
        """Begin a new last page with ``entry``."""
        level = self.levels[height]
        if height == len(self.levels) - 1:
            # the root's content goes one level down first
            level.last.number = self.pager.allocate(self.root)[0]
            self.levels.append(_Level(_Node(self.root)))
        full = level.last
        number = self.pager.allocate(full.number)[0]
        moved = full.entries.pop()
        full.used -= self._size(height, moved)
        if level.left is not None:
            self._write(height, level.left)
        new = _Node(number)
        new.right = full.right
        new.entries.append(entry)
        new.used = size
        full.right = moved.child
        level.left, level.last = full, new
        level.between = _Entry(full.number, moved.cell)
        self._append(height + 1, level.between)
        self.levels[height + 1].last.right = number

    def _write(self, height: int, node: _Node) -> None:
        cells = [entry.child.to_bytes(4, "big") + entry.cell if height else entry.cell for entry in node.entries]
        page = self.pager.write(node.number)
        build_page(page, node.number, INTERIOR_INDEX if height else LEAF_INDEX, cells, self.usable, node.right)
        self.pager.forget_node(node.number)

    def finish(self) -> None:
        """Write what is still open."""
        for height, level in enumerate(self.levels):
            if level.left is not None:
                self._write(height, level.left)
            self._write(height, level.last)


def fill_index(tree: IndexTree, payloads: Iterable[bytes]) -> None:
    """Fill an empty index tree; ``payloads`` come in the tree's order.  Not for auto-vacuum databases (pointer maps)."""
    pager = tree.pager
    try:
        load = BulkLoad(tree)
        limit = pager.layout.max_index
        for payload in payloads:
            load.add(make_cell(pager, put_varint(len(payload)), payload, limit))
        load.finish()
        tree.write_count += 1
    except BaseException as error:
        pager.failed = True
        if isinstance(error, IndexError):
            raise errors.corrupt() from None
        raise
