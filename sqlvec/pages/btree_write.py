"""Changing b-trees: inserting, replacing and deleting entries, making, clearing and dropping trees.

Each change finds its place with a path of (page, child index) from the root, edits the leaf in place and lets ``balance`` repair
what became too full or too empty.  Appending rows in rowid order, the commonest load, goes through :class:`AppendState`: the
right-most leaf stays at hand and a cell costs a few slices.

Any exception inside a change leaves pages half done: the pager is marked failed and must roll back to a savepoint or entirely.
"""
from __future__ import annotations

from _bisect import bisect_left
from struct import Struct

from sqlvec import errors
from sqlvec.pages import pointer_map
from sqlvec.pages.balance import Balancer
from sqlvec.pages.cursor import index_node, leaf_payloads, leaf_search, row_search, table_node
from sqlvec.pages.key_layout import Probe
from sqlvec.pages.page import (
    INTERIOR_INDEX,
    INTERIOR_TABLE,
    LEAF_INDEX,
    LEAF_TABLE,
    MAX_DEPTH,
    rowid_at,
    unpack_u16,
)
from sqlvec.pages.page_edit import (
    build_page,
    cell_overflow,
    cell_size,
    first_pointer,
    page_cells,
)
from sqlvec.pages.record import put_varint
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.pages.btree import IndexTree, TableTree
    from sqlvec.pages.pager import Pager
    from sqlvec.pages.record import Value

_pack_count_content = Struct(">HH").pack_into
_pack_u16 = Struct(">H").pack_into


class AppendState:
    """The right-most leaf of a table tree, ready for the next larger rowid."""

    __slots__ = ("changes", "content", "count", "generation", "last_rowid", "max_leaf", "page", "pager")

    def __init__(self, tree: TableTree, page: bytearray, last_rowid: int) -> None:
        self.pager = tree.pager
        self.page = page
        self.last_rowid = last_rowid
        self.changes = tree.write_count
        self.generation = tree.pager.generation
        self.max_leaf = tree.pager.layout.max_leaf
        self.count, content = Struct(">HH").unpack_from(page, 3)
        self.content = content or 65536

    def is_current(self, tree: TableTree) -> bool:
        return tree.write_count == self.changes and self.pager.generation == self.generation

    def append(self, tree: TableTree, rowid: int, payload: bytes) -> bool:
        """Add a row behind the last one; False when the general way is needed."""
        if rowid <= self.last_rowid or tree.write_count != self.changes or self.pager.generation != self.generation:
            return False
        size = len(payload)
        if size > self.max_leaf:
            return False
        cell = put_varint(size) + put_varint(rowid) + payload
        size = len(cell)
        if size < 4:
            return False
        count = self.count
        content = self.content - size
        place = 8 + 2 * count
        if content < place + 2:
            return False
        page = self.page
        page[content : content + size] = cell
        _pack_u16(page, place, content)
        self.count = count = count + 1
        self.content = content
        _pack_count_content(page, 3, count, content)
        self.last_rowid = rowid
        tree.write_count = self.changes = self.changes + 1
        return True


def _may_append(page: bytearray) -> bool:
    """Is all free space of this leaf in its gap?"""
    return page[1] == page[2] == 0 and page[7] == 0


# --- cells -------------------------------------------------------------------------------------------------------------------------


def make_cell(pager: Pager, head: bytes, payload: bytes, max_local: int) -> bytes:
    """``head`` and the local part of the payload; the rest goes to new overflow pages."""
    size = len(payload)
    if size <= max_local:
        return head + payload
    local = pager.layout.local_size(size, max_local)
    return head + payload[:local] + write_overflow(pager, payload, local).to_bytes(4, "big")


def write_overflow(pager: Pager, payload: bytes, at: int) -> int:
    """Store ``payload[at:]`` on a new chain; returns its first page."""
    room = pager.usable_size - 4
    first = previous = 0
    previous_page: bytearray | None = None
    maps = pager.auto_vacuum
    size = len(payload)
    while at < size:
        near = previous
        if maps:
            near = previous + 1
            while pointer_map.is_map_page(pager, near) or near == pager.pending_page:
                near += 1
        page_no, page = pager.allocate(near)
        part = payload[at : at + room]
        page[4 : 4 + len(part)] = part
        at += room
        if previous_page is None:
            first = page_no
        else:
            # the page before may have been handed out anew by the allocation's journal rules: write() finds it
            pager.write(previous)[0:4] = page_no.to_bytes(4, "big")
            if maps:
                pointer_map.write_entry(pager, page_no, pointer_map.OVERFLOW_NEXT, previous)
        previous, previous_page = page_no, page
    return first


def free_overflow(pager: Pager, cell: bytes, kind: int) -> None:
    """Give the overflow chain of a cell to the freelist."""
    first = cell_overflow(cell, kind, pager.layout)
    if not first:
        return
    for page_no in overflow_chain(pager, cell, kind, first):
        pager.free(page_no)


def overflow_chain(pager: Pager, cell: bytes, kind: int, page_no: int) -> list[int]:
    """Page numbers of a chain, as many as the payload needs."""
    from_size = payload_size(cell, kind)
    limit = pager.layout.max_leaf if kind == LEAF_TABLE else pager.layout.max_index
    room = pager.usable_size - 4
    pages = -(-(from_size - pager.layout.local_size(from_size, limit)) // room)
    if pages > pager.page_count:
        raise errors.corrupt()
    chain: list[int] = []
    for _ in range(pages):
        if not 2 <= page_no <= pager.page_count or page_no in chain[-1:]:
            raise errors.corrupt()
        chain.append(page_no)
        page_no = int.from_bytes(pager.get(page_no)[:4], "big")
    return chain


def payload_size(cell: bytes, kind: int) -> int:
    """Total payload size that a cell announces."""
    at = 4 if kind == INTERIOR_INDEX else 0
    size = cell[at]
    if size > 127:
        size = 0
        for byte in cell[at : at + 9]:
            size = size << 7 | byte & 127
            if byte < 128:
                break
    return size


def overwrite_overflow(pager: Pager, cell: bytes, kind: int, payload: bytes, local: int) -> None:
    """Put the tail of an equally long payload onto the existing chain."""
    room = pager.usable_size - 4
    at = local
    for page_no in overflow_chain(pager, cell, kind, cell_overflow(cell, kind, pager.layout)):
        part = payload[at : at + room]
        if pager.get(page_no)[4 : 4 + len(part)] != part:
            pager.write(page_no)[4 : 4 + len(part)] = part
        at += room


# --- rowid trees -------------------------------------------------------------------------------------------------------------------


def _table_path(tree: TableTree, rowid: int) -> list[tuple[int, int]]:
    """(page, child index) from the root to the leaf for ``rowid``; the leaf has index -1."""
    pager = tree.pager
    page_no = tree.root
    path = []
    while True:
        node = table_node(pager, page_no)
        if node is None:
            path.append((page_no, -1))
            return path
        if len(path) > MAX_DEPTH:
            raise errors.corrupt()
        index = bisect_left(node[0], rowid)
        path.append((page_no, index))
        page_no = node[1][index]


def insert_row(tree: TableTree, rowid: int, payload: bytes) -> None:
    """Store or replace a row."""
    pager = tree.pager
    pager.spill_if_large()
    try:
        _insert_row(tree, rowid, payload)
    except IndexError:
        pager.failed = True
        raise errors.corrupt() from None
    except BaseException:
        pager.failed = True
        raise


def _insert_row(tree: TableTree, rowid: int, payload: bytes) -> None:
    pager = tree.pager
    path = _table_path(tree, rowid)
    page_no = path[-1][0]
    page = pager.write(page_no)
    tree.write_count += 1
    kind = LEAF_TABLE
    _, index, at = row_search(pager, page_no, rowid)
    at_header = 100 if page_no == 1 else 0
    count = page[at_header + 3] << 8 | page[at_header + 4]
    max_leaf = pager.layout.max_leaf
    head = put_varint(len(payload)) + put_varint(rowid)
    is_last = index == count and _is_right_most(pager, path)
    balancer = Balancer(pager, path)
    if at:
        size = cell_size(page, at, kind, pager.layout)
        old = bytes(page[at : at + size])
        if payload_size(old, kind) == len(payload) and at + size <= pager.usable_size:
            local = pager.layout.local_size(len(payload), max_leaf)
            page[at + len(head) : at + len(head) + local] = payload[:local]
            if local < len(payload):
                overwrite_overflow(pager, old, kind, payload, local)
            return
        cell = make_cell(pager, head, payload, max_leaf)
        free_overflow(pager, old, kind)
        balancer.drop(page_no, index)
    else:
        cell = make_cell(pager, head, payload, max_leaf)
    balancer.insert(page_no, index, cell)
    if page_no in balancer.overfull:
        balancer.run()
    if is_last:
        _note_append(tree, rowid)


def _is_right_most(pager: Pager, path: list[tuple[int, int]]) -> bool:
    """Does the path go through the last child on every level?"""
    for page_no, index in path[:-1]:
        node = table_node(pager, page_no)
        if node is None or index != len(node[1]) - 1:
            return False
    return True


def _note_append(tree: TableTree, rowid: int) -> None:
    """Keep the right-most leaf at hand if ``rowid`` is its last and it may take more."""
    pager = tree.pager
    page_no = _table_path(tree, rowid)[-1][0]
    if page_no == 1:
        return
    page = pager.write(page_no)
    count = unpack_u16(page, 3)[0]
    if count and _may_append(page) and rowid_at(page, unpack_u16(page, 8 + 2 * (count - 1))[0]) == rowid:
        tree.append_state = AppendState(tree, page, rowid)


def delete_row(tree: TableTree, rowid: int) -> bool:
    """Remove a row."""
    pager = tree.pager
    pager.spill_if_large()
    try:
        path = _table_path(tree, rowid)
        page_no = path[-1][0]
        _, index, at = row_search(pager, page_no, rowid)
        if not at:
            return False
        tree.write_count += 1
        balancer = Balancer(pager, path)
        cell = balancer.cell(page_no, index)
        free_overflow(pager, cell, LEAF_TABLE)
        balancer.drop(page_no, index)
        balancer.run()
    except IndexError:
        pager.failed = True
        raise errors.corrupt() from None
    except BaseException:
        pager.failed = True
        raise
    return True


# --- index trees -------------------------------------------------------------------------------------------------------------------


def _index_path(tree: IndexTree, values: tuple[Value, ...]) -> tuple[list[tuple[int, int]], int, bool]:
    """Path to the page where an entry with these key fields is or belongs, its cell index there, and whether it is there."""
    pager = tree.pager
    layout = tree.layout
    key = values[: layout.key_columns]
    probe = Probe(layout, key, False)
    page_no = tree.root
    path: list[tuple[int, int]] = []
    while True:
        node = index_node(pager, page_no)
        if node is None:
            index, count = leaf_search(pager, page_no, probe)
            path.append((page_no, -1))
            found = False
            if index < count:
                there = pager.leaf_keys[page_no][index] if layout.is_plain and page_no in pager.leaf_keys else None
                if there is None:
                    there = layout.project(leaf_payloads(pager, page_no, index, index + 1)[0], layout.key_columns)
                found = layout.compare(there, key) == 0
            return path, index, found
        if len(path) > MAX_DEPTH:
            raise errors.corrupt()
        index = node.position(probe)
        path.append((page_no, index))
        if index < node.count and layout.compare(node.key(index, layout), key) == 0:
            return path, index, True
        page_no = node.child(index)


def insert_entry(tree: IndexTree, payload: bytes, values: tuple[Value, ...], bulk: bool = False) -> None:
    """Store an entry; one with equal key fields is replaced.  ``bulk``: entries come in order, full pages stay full."""
    pager = tree.pager
    pager.spill_if_large()
    try:
        path, index, found = _index_path(tree, values)
        tree.write_count += 1
        page_no = path[-1][0]
        page = pager.write(page_no)
        kind = page[100 if page_no == 1 else 0]
        balancer = Balancer(pager, path, bulk)
        head = put_varint(len(payload))
        if found:
            old = balancer.cell(page_no, index)
            if _overwrite_entry(pager, page_no, index, old, kind, payload):
                return
            cell = make_cell(pager, head, payload, pager.layout.max_index)
            if kind == INTERIOR_INDEX:
                cell = old[:4] + cell
            free_overflow(pager, old, kind)
            balancer.drop(page_no, index)
        else:
            cell = make_cell(pager, head, payload, pager.layout.max_index)
        balancer.insert(page_no, index, cell)
        if page_no in balancer.overfull:
            balancer.run()
    except IndexError:
        pager.failed = True
        raise errors.corrupt() from None
    except BaseException:
        pager.failed = True
        raise


def _overwrite_entry(pager: Pager, page_no: int, index: int, old: bytes, kind: int, payload: bytes) -> bool:
    """Replace an entry of the same length in place."""
    if payload_size(old, kind) != len(payload):
        return False
    page = pager.write(page_no)
    pager.forget_node(page_no)
    at = unpack_u16(page, first_pointer(kind, 100 if page_no == 1 else 0) + 2 * index)[0]
    local = pager.layout.local_size(len(payload), pager.layout.max_index)
    start = at + (4 if kind == INTERIOR_INDEX else 0) + len(put_varint(len(payload)))
    page[start : start + local] = payload[:local]
    if local < len(payload):
        overwrite_overflow(pager, old, kind, payload, local)
    return True


def delete_entry(tree: IndexTree, values: tuple[Value, ...]) -> bool:
    """Remove the entry with these key fields."""
    pager = tree.pager
    pager.spill_if_large()
    try:
        path, index, found = _index_path(tree, values)
        if not found:
            return False
        tree.write_count += 1
        page_no = path[-1][0]
        kind = pager.get(page_no)[100 if page_no == 1 else 0]
        balancer = Balancer(pager, path)
        cell = balancer.cell(page_no, index)
        if kind == LEAF_INDEX:
            free_overflow(pager, cell, kind)
            balancer.drop(page_no, index)
            balancer.run()
        else:
            _delete_inner(balancer, path, index, cell)
    except IndexError:
        pager.failed = True
        raise errors.corrupt() from None
    except BaseException:
        pager.failed = True
        raise
    return True


def _delete_inner(balancer: Balancer, path: list[tuple[int, int]], index: int, cell: bytes) -> None:
    """An entry of an interior page goes: the largest entry in front of it takes its place."""
    pager = balancer.pager
    inner = path[-1][0]
    depth = len(path)
    upper = list(path)
    page_no = int.from_bytes(cell[:4], "big")
    while True:
        node = index_node(pager, page_no)
        if node is None:
            break
        if len(path) > MAX_DEPTH:
            raise errors.corrupt()
        path.append((page_no, node.count))
        page_no = node.right
    path.append((page_no, -1))
    last = balancer.count(page_no) - 1
    if last < 0:
        raise errors.corrupt()
    heir = balancer.cell(page_no, last)
    free_overflow(pager, cell, INTERIOR_INDEX)
    balancer.drop(inner, index)
    balancer.insert(inner, index, cell[:4] + heir)
    balancer.appended = None
    balancer.drop(page_no, last)
    balancer.run()
    if len(balancer.path) > depth:
        balancer.path = upper
        balancer.run()


# --- whole trees -------------------------------------------------------------------------------------------------------------------


def create_tree(pager: Pager, is_index: bool) -> int:
    """A new, empty tree; in auto-vacuum databases roots stay together at the start of the file."""
    try:
        if pager.auto_vacuum:
            root, page = resolve("sqlvec.pages.auto_vacuum:allocate_root")(pager)
        else:
            root, page = pager.allocate(1)
        build_page(page, root, LEAF_INDEX if is_index else LEAF_TABLE, [], pager.usable_size)
    except BaseException:
        pager.failed = True
        raise
    pager.forget_node(root)
    _forget_tree(pager, root)
    return root  # type: ignore[no-any-return]


def _forget_tree(pager: Pager, root: int) -> None:
    """The tree object of a root that changed its meaning must not be used again."""
    tree = pager.trees.pop(root, None)
    if tree is not None:
        tree.write_count += 1


def clear_tree(pager: Pager, root: int) -> int:
    """Free everything below the root, which becomes an empty leaf; returns the number of entries."""
    pager.spill_if_large()
    try:
        page = pager.get(root)
        kind = page[100 if root == 1 else 0]
        count = _clear_page(pager, root, {root}, 0)
        build_page(
            pager.write(root), root, LEAF_TABLE if kind in (LEAF_TABLE, INTERIOR_TABLE) else LEAF_INDEX, [], pager.usable_size
        )
    except IndexError:
        pager.failed = True
        raise errors.corrupt() from None
    except BaseException:
        pager.failed = True
        raise
    pager.forget_node(root)
    tree = pager.trees.get(root)
    if tree is not None:
        tree.write_count += 1
    return count


def _clear_page(pager: Pager, page_no: int, seen: set[int], depth: int) -> int:
    if depth > MAX_DEPTH:
        raise errors.corrupt()
    page = pager.get(page_no)
    at = 100 if page_no == 1 else 0
    kind = page[at]
    count = 0
    right = int.from_bytes(page[at + 8 : at + 12], "big") if kind < 8 else 0
    cells = page_cells(page, page_no, pager.layout)
    if kind != INTERIOR_TABLE:
        count = len(cells)
    if kind < 8:
        children = [int.from_bytes(cell[:4], "big") for cell in cells]
    for index, cell in enumerate(cells):
        if kind < 8:
            count += _clear_child(pager, children[index], seen, depth)
        free_overflow(pager, cell, kind)
    if kind < 8:
        count += _clear_child(pager, right, seen, depth)
    return count


def _clear_child(pager: Pager, child: int, seen: set[int], depth: int) -> int:
    if child in seen:
        raise errors.corrupt()
    seen.add(child)
    count = _clear_page(pager, child, seen, depth + 1)
    pager.forget_node(child)
    pager.free(child)
    return count


def drop_tree(pager: Pager, root: int) -> int:
    """Free a tree.  In auto-vacuum databases the last root moves into the gap: its old number is returned, else 0."""
    clear_tree(pager, root)
    _forget_tree(pager, root)
    try:
        if not pager.auto_vacuum:
            pager.free(root)
            return 0
        moved: int = resolve("sqlvec.pages.auto_vacuum:close_root_gap")(pager, root)
    except BaseException:
        pager.failed = True
        raise
    if moved:
        _forget_tree(pager, moved)
    return moved
