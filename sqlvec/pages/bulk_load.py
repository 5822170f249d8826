"""Filling an empty index tree from sorted entries.

The tree grows at its right edge only, so the right-most leaf stays at hand and an entry costs a few slices.  When it is full, balancing
takes over in its *bulk* form: two neighbours instead of three and no evening out, so that what is left behind is full.  The pages come out as those
of the real writer's CREATE INDEX, REINDEX and VACUUM.  Manual: file format, section 1.6.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages.balance import Balancer
from sqlvec.pages.btree_write import make_cell
from sqlvec.pages.page import LEAF_INDEX, MAX_DEPTH, unpack_header
from sqlvec.pages.page_edit import build_page, cell_overflow, free_space, pack_pair, pack_u16
from sqlvec.pages.pointer_map import BTREE, OVERFLOW_FIRST, write_entry
from sqlvec.pages.record import put_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlvec.pages.btree import IndexTree
    from sqlvec.pages.pager import Pager


def fill_index(tree: IndexTree, payloads: Iterable[bytes]) -> None:
    """Fill an empty index tree; ``payloads`` come in the tree's order."""
    pager = tree.pager
    try:
        _fill(pager, tree.root, payloads)
    except IndexError:
        pager.failed = True
        raise errors.corrupt() from None
    except BaseException:
        pager.failed = True
        raise
    finally:
        tree.write_count += 1


def _right_edge(pager: Pager, root: int) -> list[tuple[int, int]]:
    """The path through the last child on every level."""
    path: list[tuple[int, int]] = []
    page_no = root
    while len(path) <= MAX_DEPTH:
        page = pager.get(page_no)
        if page[0] == LEAF_INDEX:
            path.append((page_no, -1))
            return path
        path.append((page_no, page[3] << 8 | page[4]))
        page_no = int.from_bytes(page[8:12], "big")
    raise errors.corrupt()


def _begin_leaf(balancer: Balancer, page_no: int, count: int, cell: bytes) -> bool:
    """What bulk balancing does as a rule, without taking pages apart: the last cell of the full leaf moves up, ``cell`` starts a new leaf.

    False when the case isn't that plain: the left neighbour could take something back, or the new page wouldn't be the last of the file.
    """
    pager = balancer.pager
    path = balancer.path
    if len(path) < 2 or count < 2 or pager.freelist_count:
        return False
    parent, entries = path[-2]
    if not entries:
        return False
    between = balancer.cell(parent, entries - 1)
    left = int.from_bytes(between[:4], "big")
    if free_space(pager.get(left), 0, pager.usable_size) >= max(len(between) - 4, 4) + 2:
        return False
    fresh, page = pager.allocate(left)
    last = balancer.cell(page_no, count - 1)
    balancer.drop(page_no, count - 1)
    build_page(page, fresh, LEAF_INDEX, [cell], pager.usable_size)
    if pager.auto_vacuum:
        write_entry(pager, fresh, BTREE, parent)
        overflow = cell_overflow(cell, LEAF_INDEX, pager.layout)
        if overflow:
            write_entry(pager, overflow, OVERFLOW_FIRST, fresh)
    balancer.insert(parent, entries, page_no.to_bytes(4, "big") + last)
    balancer.set_child(parent, entries + 1, entries + 1, fresh)
    path.pop()
    balancer.run()
    return True


def _fill(pager: Pager, root: int, payloads: Iterable[bytes]) -> None:
    limit = pager.layout.max_index
    short = min(128, limit + 1)
    page_no = root
    page = pager.write(root)
    pager.forget_node(root)
    count = 0
    content = pager.usable_size
    for payload in payloads:
        size = len(payload)
        place = 8 + 2 * count
        if 2 < size < short and content - size - 1 >= place + 2:
            content -= size + 1
            page[content] = size
            page[content + 1 : content + 1 + size] = payload
            pack_u16(page, place, content)
            count += 1
            continue
        # the page header lags behind while cells are appended
        pack_pair(page, 3, count, content & 0xFFFF)
        cell = make_cell(pager, put_varint(size), payload, limit)
        room = max(len(cell), 4)
        balancer = Balancer(pager, _right_edge(pager, root), bulk=True)
        if content - room >= place + 2:
            balancer.insert(page_no, count, cell)  # one of unusual size: tiny, or with overflow pages
        elif not _begin_leaf(balancer, page_no, count, cell):
            balancer.insert(page_no, count, cell)
            balancer.run()
        pager.spill_if_large()
        page_no = _right_edge(pager, root)[-1][0]
        page = pager.write(page_no)
        pager.forget_node(page_no)
        _, _, count, content, _ = unpack_header(page, 0)
        content = content or 65536
    pack_pair(page, 3, count, content & 0xFFFF)
