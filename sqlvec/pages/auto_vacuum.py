"""Auto-vacuum: roots at the start of the file, free pages cut off its end (file format, section 1.8).

Moving a page means copying it, repairing the one place that names it, which the pointer map knows, and the map entries of what it
names itself.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages import freelist
from sqlvec.pages.page import INTERIOR_TABLE, cell_pointers
from sqlvec.pages.page_edit import cell_overflow, page_cells
from sqlvec.pages.pointer_map import (
    BTREE,
    FREE,
    OVERFLOW_FIRST,
    OVERFLOW_NEXT,
    ROOT,
    is_map_page,
    map_page_of,
    read_entry,
    write_entry,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.pages.pager import Pager


def _is_reserved(pager: Pager, page_no: int) -> bool:
    return is_map_page(pager, page_no) or page_no == pager.pending_page


# --- moving a page -----------------------------------------------------------------------------------------------------------------


def relocate(pager: Pager, page_no: int, target: int, kind: int, parent: int) -> None:
    """Copy ``page_no`` to ``target`` (already taken) and let everything that names it, or is named by it as parent, follow."""
    pager.write(target)[:] = pager.get(page_no)
    pager.forget_node(target)
    pager.forget_node(page_no)
    if kind in (ROOT, BTREE):
        map_children(pager, target)
    else:
        following = int.from_bytes(pager.get(target)[:4], "big")
        if following:
            write_entry(pager, following, OVERFLOW_NEXT, target)
    if kind != ROOT:
        _replace_reference(pager, parent, page_no, target, kind)
    write_entry(pager, target, kind, parent)
    for tree in pager.trees.values():
        tree.write_count += 1


def map_children(pager: Pager, page_no: int) -> None:
    """Write the map entries of every page that this b-tree page names."""
    page = pager.get(page_no)
    at = 100 if page_no == 1 else 0
    kind = page[at]
    for cell in page_cells(page, page_no, pager.layout):
        if kind < 8:
            write_entry(pager, int.from_bytes(cell[:4], "big"), BTREE, page_no)
        overflow = cell_overflow(cell, kind, pager.layout)
        if overflow:
            write_entry(pager, overflow, OVERFLOW_FIRST, page_no)
    if kind < 8:
        write_entry(pager, int.from_bytes(page[at + 8 : at + 12], "big"), BTREE, page_no)


def _replace_reference(pager: Pager, parent: int, old: int, new: int, kind: int) -> None:
    """Change the place in ``parent`` that names ``old``."""
    page = pager.write(parent)
    pager.forget_node(parent)
    number = new.to_bytes(4, "big")
    wanted = old.to_bytes(4, "big")
    if kind == OVERFLOW_NEXT:
        if page[:4] != wanted:
            raise errors.corrupt()
        page[:4] = number
        return
    at = 100 if parent == 1 else 0
    found, pointers = cell_pointers(page, parent, pager.layout)
    if kind == BTREE:
        if found > 8:
            raise errors.corrupt()
        for place in (*pointers, at + 8):
            if page[place : place + 4] == wanted:
                page[place : place + 4] = number
                return
        raise errors.corrupt()
    if found != INTERIOR_TABLE:
        for place, cell in zip(pointers, page_cells(page, parent, pager.layout), strict=True):
            if cell_overflow(cell, found, pager.layout) == old:
                end = place + len(cell)
                page[end - 4 : end] = number
                return
    raise errors.corrupt()


# --- roots -------------------------------------------------------------------------------------------------------------------------


def allocate_root(pager: Pager) -> tuple[int, bytearray]:
    """The next root page; whatever lives there moves away."""
    root = pager.header("largest_root") + 1
    while _is_reserved(pager, root):
        root += 1
    if root > pager.page_count:
        while pager.page_count < root:
            got, page = pager.add_page()
        if got != root:
            raise errors.corrupt()
    elif freelist.take(pager, root):
        page = pager.replace_page(root)
    else:
        kind, parent = read_entry(pager, root)
        if kind in (ROOT, FREE):
            raise errors.corrupt()
        target, _ = pager.allocate(root)
        relocate(pager, root, target, kind, parent)
        page = pager.replace_page(root)
    write_entry(pager, root, ROOT, 0)
    pager.set_header("largest_root", root)
    return root, page


def close_root_gap(pager: Pager, root: int) -> int:
    """Free an emptied root; the last root of the file moves into its place.  Returns that root's old number, or 0."""
    largest = pager.header("largest_root")
    moved = 0
    if root == largest:
        pager.free(root)
    else:
        kind, parent = read_entry(pager, largest)
        if kind != ROOT:
            raise errors.corrupt()
        relocate(pager, largest, root, ROOT, parent)
        pager.free(largest)
        moved = largest
    largest -= 1
    while _is_reserved(pager, largest):
        largest -= 1
    pager.set_header("largest_root", largest)
    return moved


# --- cutting the file --------------------------------------------------------------------------------------------------------------


def final_size(pager: Pager, free: int) -> int:
    """Page count after ``free`` pages and the map pages that become needless are gone."""
    count = pager.page_count
    per_map = pager.usable_size // 5
    maps = (free - count + map_page_of(pager, count) + per_map) // per_map
    final = count - free - maps
    if count > pager.pending_page > final:
        final -= 1
    while _is_reserved(pager, final):
        final -= 1
    return final


def _step(pager: Pager, last: int, limit: int) -> None:
    """Make page ``last`` superfluous: take it off the freelist or move its content to a free page at most ``limit``."""
    if _is_reserved(pager, last):
        return
    kind, parent = read_entry(pager, last)
    if kind == ROOT:
        raise errors.corrupt()
    if kind == FREE:
        if not freelist.take(pager, last):
            raise errors.corrupt()
        return
    target = freelist.take_at_most(pager, limit)
    if not target:
        raise errors.corrupt()
    pager.replace_page(target)
    relocate(pager, last, target, kind, parent)


def vacuum_all(pager: Pager) -> None:
    """Full auto-vacuum at commit."""
    if _is_reserved(pager, pager.page_count):
        raise errors.corrupt()
    final = final_size(pager, pager.header("freelist_count"))
    if final > pager.page_count:
        raise errors.corrupt()
    for last in range(pager.page_count, final, -1):
        if pager.header("freelist_count") == 0:
            break
        if not _is_reserved(pager, last):
            kind, _ = read_entry(pager, last)
            # free pages behind the end need not be unlinked one by one: the whole list goes
            if kind != FREE:
                _step(pager, last, final)
    page_one = pager.write(1)
    page_one[32:40] = bytes(8)
    pager.cut_to(final)


def incremental_step(pager: Pager) -> bool:
    """One step of ``PRAGMA incremental_vacuum``: the file gets one page shorter.  False when nothing is free."""
    if pager.auto_vacuum == 0:
        return False
    free = pager.header("freelist_count")
    if free == 0:
        return False
    last = pager.page_count
    final = final_size(pager, free)
    if final > last or free >= last:
        raise errors.corrupt()
    try:
        _step(pager, last, final)
        last -= 1
        while _is_reserved(pager, last):
            last -= 1
        pager.cut_to(last)
    except BaseException:
        pager.failed = True
        raise
    return True


def incremental_vacuum(pager: Pager, steps: int = 0) -> int:
    """``PRAGMA incremental_vacuum(steps)`` (0 or less: all); returns the number of pages given back."""
    done = 0
    while (steps <= 0 or done < steps) and incremental_step(pager):
        done += 1
    return done
