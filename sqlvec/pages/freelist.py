"""The freelist: trunk pages that list free leaves (file format, section 1.5), and the pages that auto-vacuum moves.

Which page an allocation returns follows the real writer: the closest leaf of the first trunk, an empty trunk itself, else the end of
the file.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages.file_header import get_field, set_field
from sqlvec.pages.page import unpack_u32
from sqlvec.pages.pointer_map import FREE, is_map_page, write_entry
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlvec.pages.pager import Pager


def _append_page(pager: Pager) -> tuple[int, bytearray]:
    if pager.auto_vacuum and is_map_page(pager, pager.page_count + (2 if pager.page_count + 1 == pager.pending_page else 1)):
        pager.add_page()
    return pager.add_page()


def allocate(pager: Pager, near: int = 0) -> tuple[int, bytearray]:
    """A zeroed page: from the freelist, or new at the end of the file."""
    head = pager.get(1)
    count = get_field(head, "freelist_count")
    if count == 0:
        return _append_page(pager)
    if count >= pager.page_count:
        raise errors.corrupt()
    page_one = pager.write(1)
    trunk = get_field(head, "freelist_trunk")
    if not 2 <= trunk <= pager.page_count:
        raise errors.corrupt()
    page = pager.write(trunk)
    leaves = unpack_u32(page, 4)[0]
    if leaves > pager.usable_size // 4 - 2:
        raise errors.corrupt()
    if leaves == 0:
        set_field(page_one, "freelist_trunk", unpack_u32(page, 0)[0])
        taken = trunk
    else:
        numbers = [unpack_u32(page, 8 + 4 * index)[0] for index in range(leaves)]
        index = min(range(leaves), key=lambda i: abs(numbers[i] - near)) if near else 0
        taken = numbers[index]
        if not 2 <= taken <= pager.page_count:
            raise errors.corrupt()
        _drop_leaf(page, leaves, index)
    set_field(page_one, "freelist_count", count - 1)
    return taken, pager.replace_page(taken)


def _drop_leaf(page: bytearray, leaves: int, index: int) -> None:
    """The last leaf fills the hole."""
    last = 8 + 4 * (leaves - 1)
    if index != leaves - 1:
        page[8 + 4 * index : 12 + 4 * index] = page[last : last + 4]
    page[4:8] = (leaves - 1).to_bytes(4, "big")


def free(pager: Pager, page_no: int) -> None:
    """Put a page on the freelist."""
    if not 2 <= page_no <= pager.page_count:
        raise errors.corrupt()
    page_one = pager.write(1)
    count = get_field(page_one, "freelist_count")
    set_field(page_one, "freelist_count", count + 1)
    if pager.secure_delete == 1:
        pager.replace_page(page_no)
    else:
        pager.write(page_no)
    if pager.auto_vacuum:
        write_entry(pager, page_no, FREE, 0)
    trunk = get_field(page_one, "freelist_trunk")
    if count:
        if not 2 <= trunk <= pager.page_count:
            raise errors.corrupt()
        leaves = unpack_u32(pager.get(trunk), 4)[0]
        if leaves > pager.usable_size // 4 - 2:
            raise errors.corrupt()
        if leaves < pager.usable_size // 4 - 8:
            page = pager.write(trunk)
            page[4:8] = (leaves + 1).to_bytes(4, "big")
            page[8 + 4 * leaves : 12 + 4 * leaves] = page_no.to_bytes(4, "big")
            return
    else:
        trunk = 0
    page = pager.write(page_no)
    page[0:8] = trunk.to_bytes(4, "big") + bytes(4)
    set_field(page_one, "freelist_trunk", page_no)


def trunks(pager: Pager) -> Iterator[tuple[int, list[int]]]:
    """(trunk page, its leaves) along the list; damage raises."""
    trunk = get_field(pager.get(1), "freelist_trunk")
    seen = 0
    while trunk:
        page = pager.get(trunk)
        leaves = unpack_u32(page, 4)[0]
        seen += 1 + leaves
        if leaves > pager.usable_size // 4 - 2 or seen > pager.page_count:
            raise errors.corrupt()
        yield trunk, [unpack_u32(page, 8 + 4 * index)[0] for index in range(leaves)]
        trunk = unpack_u32(page, 0)[0]


def take(pager: Pager, wanted: int) -> bool:
    """Remove exactly page ``wanted`` from the freelist; False when it isn't there."""
    return _take_where(pager, lambda page_no: page_no == wanted) == wanted


def take_at_most(pager: Pager, limit: int) -> int:
    """Remove some free page numbered at most ``limit`` from the freelist; 0 when there is none."""
    return _take_where(pager, lambda page_no: page_no <= limit)


def _take_where(pager: Pager, fits) -> int:  # type: ignore[no-untyped-def]
    before = 0
    for trunk, leaves in trunks(pager):
        index = next((i for i, page_no in enumerate(leaves) if fits(page_no)), -1)
        if index >= 0:
            _drop_leaf(pager.write(trunk), len(leaves), index)
            _count_down(pager)
            return leaves[index]
        if fits(trunk):
            _unlink_trunk(pager, trunk, before, leaves)
            _count_down(pager)
            return trunk
        before = trunk
    return 0


def _unlink_trunk(pager: Pager, trunk: int, before: int, leaves: list[int]) -> None:
    """Take a trunk off the list; its first leaf inherits the others."""
    following = pager.get(trunk)[0:4]
    if leaves:
        heir = leaves[0]
        page = pager.replace_page(heir)
        page[0:8] = following + (len(leaves) - 1).to_bytes(4, "big")
        page[8 : 8 + 4 * (len(leaves) - 1)] = b"".join([page_no.to_bytes(4, "big") for page_no in leaves[1:]])
        following = heir.to_bytes(4, "big")
    if before:
        pager.write(before)[0:4] = following
    else:
        pager.write(1)[32:36] = following


def _count_down(pager: Pager) -> None:
    page_one = pager.write(1)
    set_field(page_one, "freelist_count", get_field(page_one, "freelist_count") - 1)


def finish_auto_vacuum(pager: Pager) -> None:
    """What a commit does in a full auto-vacuum database: move pages from the end into free ones and cut the file."""
    if pager.auto_vacuum == 1 and pager.header("freelist_count"):
        resolve("sqlvec.pages.auto_vacuum:vacuum_all")(pager)
