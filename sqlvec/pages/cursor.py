"""Walking trees: from a root page and bounds to lists of entries, one list a leaf.

A walk descends once, then moves over the children of the lowest interior page in growing batches, so that a long scan reads large
pieces of the file and a short one little.  The lists a walk yields are complete; a consumer that changed the tree in between
re-opens behind the last key it used (the tree's ``write_count`` tells).

Interior pages are parsed once and kept in ``pager.nodes``; the pager drops an entry when the page becomes writable, the writer when it
edits it further.

Damage is found where SQLite finds it: a page is looked at when the walk comes to it (a child must hold cells and be of its tree's kind), and a
page that can't be parsed as a whole is read as far as it goes (``damaged_page``), so that rows in front of the damage are delivered.
"""
from __future__ import annotations

from _bisect import bisect_left
from struct import error as StructError

from sqlvec import errors
from sqlvec.pages.key_layout import Probe
from sqlvec.pages.page import (
    INTERIOR_INDEX,
    INTERIOR_TABLE,
    LEAF_INDEX,
    LEAF_TABLE,
    MAX_DEPTH,
    cell_pointers,
    index_payloads,
    pointer_array,
    rowid_at,
    table_interior,
    table_leaf,
    unpack_u32,
)
from sqlvec.pages.record import DAMAGE
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.pages.key_layout import KeyLayout
    from sqlvec.pages.page import Layout
    from sqlvec.pages.pager import Pager
    from sqlvec.pages.record import Value

TABLE_KINDS = (INTERIOR_TABLE, LEAF_TABLE)
INDEX_KINDS = (INTERIOR_INDEX, LEAF_INDEX)
# Binary searches take the lower of two middles, as SQLite does: on damaged pages it matters which cells are looked at.
BATCH_LIMIT = 64
MOST_LEAF_KEYS = 4000
"""So many leaves keep the keys that searches decoded."""


def page_kind(pager: Pager, page_no: int) -> int:
    """The type byte of a b-tree page."""
    return pager.get(page_no)[100 if page_no == 1 else 0]


def readable_rows(pager: Pager, page_no: int, page: bytes) -> list[tuple[int, bytes]]:
    """All (rowid, payload) of a table leaf, as far as they can be read."""
    try:
        return table_leaf(page, page_no, pager.layout, pager.read_overflow)
    except errors.SqlError as error:
        if error.code != errors.CORRUPT:
            raise
        return resolve("sqlvec.pages.damaged_page:table_rows")(pager, page_no, page)  # type: ignore[no-any-return]


def readable_payloads(pager: Pager, page: bytes | bytearray, pointers: tuple[int, ...], skip: int) -> list[bytes]:
    """The payloads at ``pointers`` of an index page, as far as they can be read; ``skip`` is 4 on interior pages."""
    try:
        return index_payloads(page, pointers, skip, pager.layout, pager.read_overflow)
    except errors.SqlError as error:
        if error.code != errors.CORRUPT:
            raise
        return resolve("sqlvec.pages.damaged_page:index_payloads")(pager, page, pointers, skip)  # type: ignore[no-any-return]


def check_child(page: bytes | bytearray, page_no: int, kinds: tuple[int, int]) -> int:
    """The kind of a page that an interior page names: of its tree, and not empty."""
    at = 100 if page_no == 1 else 0
    kind = page[at]
    if kind not in kinds or not (page[at + 3] or page[at + 4]):
        raise errors.corrupt()
    return kind


# --- interior pages ----------------------------------------------------------------------------------------------------------------


def table_node(pager: Pager, page_no: int) -> tuple[list[int], list[int]] | None:
    """(keys, children) of an interior table page, None for a leaf."""
    node = pager.nodes.get(page_no)
    if node is None:
        page = pager.get(page_no)
        if page[100 if page_no == 1 else 0] != INTERIOR_TABLE:
            return None
        try:
            node = table_interior(page, page_no, pager.layout)
        except errors.SqlError:
            node = resolve("sqlvec.pages.damaged_page:table_interior")(pager, page_no, page)
        pager.nodes[page_no] = node
    elif type(node) is not tuple:                      # the page is in an index tree, too
        raise errors.corrupt()
    return node  # type: ignore[no-any-return]


class IndexNode:
    """An interior index page, decoded as far as it is needed: a search decodes the keys it meets, a scan all payloads."""

    __slots__ = ("_children", "_full", "_keys", "_payloads", "_pointers", "_searches", "_sort_keys", "page", "pager", "right")

    def __init__(self, pager: Pager, page: bytes, page_no: int) -> None:
        kind, self._pointers = cell_pointers(page, page_no, pager.layout)
        if kind != INTERIOR_INDEX:
            raise errors.corrupt()
        self.page = page
        self.pager = pager
        self.right = unpack_u32(page, (100 if page_no == 1 else 0) + 8)[0]
        self._keys: list[tuple[Any, ...] | None] = [None] * len(self._pointers)
        self._full = False
        self._searches = 0
        self._sort_keys: list[tuple[Any, ...]] | None = None
        self._payloads: list[bytes] | None = None
        self._children: list[int] | None = None

    @property
    def count(self) -> int:
        """Number of entries; there is one child more."""
        return len(self._pointers)

    @property
    def payloads(self) -> list[bytes]:
        if self._payloads is None:
            self._payloads = readable_payloads(self.pager, self.page, self._pointers, 4)
        return self._payloads

    @property
    def children(self) -> list[int]:
        if self._children is None:
            try:
                self._children = [unpack_u32(self.page, at)[0] for at in self._pointers]
            except StructError:
                self._children = [self.child(index) for index in range(len(self._pointers))]
            self._children.append(self.right)
        return self._children

    def child(self, index: int) -> int:
        if index == len(self._pointers):
            return self.right
        at = self._pointers[index] & (len(self.page) - 1)
        return int.from_bytes(self.page[at : at + 4], "big")

    def payload(self, index: int) -> bytes:
        if self._payloads is not None:
            return self._payloads[index]
        return readable_payloads(self.pager, self.page, (self._pointers[index],), 4)[0]

    def key(self, index: int, layout: KeyLayout) -> tuple[Any, ...]:
        """The key fields of an entry."""
        found = self._keys[index]
        if found is None:
            found = self._keys[index] = layout.key_fields(self.payload(index), layout.key_columns)
        return found

    def position(self, probe: Probe) -> int:
        """Number of entries of this page in front of the probe: also the child to descend into."""
        try:
            return self._position(probe)
        except IndexError:
            raise errors.corrupt() from None

    def _position(self, probe: Probe) -> int:
        layout = probe.layout
        keys = self._keys
        if not self._full:
            self._searches += 1
            if probe.plain is not None and self._searches < 40:
                try:
                    return self._lazy_position(layout, probe.plain)
                except TypeError:
                    pass
            for index in range(len(keys)):
                self.key(index, layout)
            self._full = True
        if probe.plain is not None:
            try:
                return bisect_left(keys, probe.plain)  # type: ignore[type-var]
            except TypeError:
                pass
        if self._sort_keys is None:
            self._sort_keys = [layout.sort_key(key) for key in keys]  # type: ignore[arg-type]
        return bisect_left(self._sort_keys, probe.sort_key())

    def _lazy_position(self, layout: KeyLayout, plain: tuple[Any, ...]) -> int:
        keys = self._keys
        low, high = 0, len(keys)
        while low < high:
            middle = (low + high - 1) >> 1
            key = keys[middle]
            if key is None:
                key = self.key(middle, layout)
            if key < plain:
                low = middle + 1
            else:
                high = middle
        return low


def index_node(pager: Pager, page_no: int) -> IndexNode | None:
    """An interior index page, None for a leaf."""
    node = pager.nodes.get(page_no)
    if node is None:
        page = pager.get(page_no)
        if page[100 if page_no == 1 else 0] != INTERIOR_INDEX:
            return None
        node = pager.nodes[page_no] = IndexNode(pager, bytes(page), page_no)
    elif type(node) is tuple:                          # the page is in a table tree, too
        raise errors.corrupt()
    return node  # type: ignore[no-any-return]


# --- many children at once ---------------------------------------------------------------------------------------------------------


def child_images(pager: Pager, children: list[int], descending: bool) -> Iterator[tuple[int, bytes]]:
    """(page number, image) of each page of ``children`` in turn, read in growing batches; the first comes through the cache."""
    numbers = children[::-1] if descending else children
    size = pager.page_size
    count = len(numbers)
    at = 0
    step = 1
    while at < count:
        if step == 1:
            yield numbers[at], bytes(pager.get(numbers[at]))
            at += 1
        else:
            batch = numbers[at : at + step]
            try:
                images = pager.read_run(batch)
            except errors.SqlError as error:
                if error.code != errors.CORRUPT:
                    raise
                for page_no in batch:                  # those in front of a page that doesn't exist
                    yield page_no, bytes(pager.get(page_no))
                return
            for index, page_no in enumerate(batch):
                yield page_no, images[index * size : (index + 1) * size]
            at += len(batch)
        step = min(step * 2, BATCH_LIMIT)


# --- table trees -------------------------------------------------------------------------------------------------------------------


def table_leaves(
    pager: Pager, page_no: int, lo: int | None, hi: int | None, descending: bool, depth: int = 0
) -> Iterator[tuple[int, bytes]]:
    """The leaves of a subtree that can hold rowids lo..hi, in the order of the walk."""
    if depth > MAX_DEPTH:
        raise errors.corrupt()
    node = table_node(pager, page_no)
    if node is None:
        yield page_no, bytes(pager.get(page_no))
        return
    keys, children = node
    first = 0 if lo is None else bisect_left(keys, lo)
    last = len(keys) if hi is None else bisect_left(keys, hi)
    wanted = children[first : last + 1]
    if not wanted:
        return
    if check_child(pager.get(wanted[-1 if descending else 0]), wanted[-1 if descending else 0], TABLE_KINDS) == INTERIOR_TABLE:
        for child in wanted[::-1] if descending else wanted:
            check_child(pager.get(child), child, TABLE_KINDS)
            yield from table_leaves(pager, child, lo, hi, descending, depth + 1)
    else:
        for child, page in child_images(pager, wanted, descending):
            if check_child(page, child, TABLE_KINDS) == LEAF_TABLE:
                yield child, page
            else:                                          # not all children are of one level
                yield from table_leaves(pager, child, lo, hi, descending, depth + 1)


def row_search(pager: Pager, page_no: int, rowid: int) -> tuple[bytes | bytearray, int, int]:
    """(page, index of the first cell of a table leaf with at least this rowid, its offset on the page or 0 if the rowid isn't there).

    Rowids that were decoded are kept in ``pager.leaf_keys``, as those of indexes are.
    """
    page = pager.get(page_no)
    at = 100 if page_no == 1 else 0
    if page[at] != LEAF_TABLE:
        raise errors.corrupt()
    high = count = page[at + 3] << 8 | page[at + 4]
    keys = pager.leaf_keys.get(page_no)
    if keys is None or len(keys) != count:
        if len(pager.leaf_keys) >= MOST_LEAF_KEYS:
            pager.leaf_keys.clear()
        keys = pager.leaf_keys[page_no] = [None] * count
    low = 0
    first = at + 8
    try:
        while low < high:
            middle = (low + high - 1) >> 1
            key = keys[middle]
            if key is None:
                pointer = first + 2 * middle
                key = keys[middle] = rowid_at(page, page[pointer] << 8 | page[pointer + 1])
            if key < rowid:
                low = middle + 1
            else:
                high = middle
        if low < count:
            pointer = first + 2 * low
            offset = page[pointer] << 8 | page[pointer + 1]
            key = keys[low]
            if key is None:
                key = keys[low] = rowid_at(page, offset)
            if key == rowid:
                return page, low, offset
    except IndexError:
        raise errors.corrupt() from None
    return page, low, 0


def table_blocks(pager: Pager, root: int, lo: int | None, hi: int | None, descending: bool) -> Iterator[list[tuple[int, bytes]]]:
    """Lists of (rowid, payload), one a leaf, within the inclusive bounds."""
    bounded = lo is not None or hi is not None
    for page_no, page in table_leaves(pager, root, lo, hi, descending):
        rows = readable_rows(pager, page_no, page)
        if not rows:
            continue
        if bounded:
            if lo is not None and rows[0][0] < lo:
                rows = rows[bisect_left(rows, (lo,)) :]
            if hi is not None and rows and rows[-1][0] > hi:
                rows = rows[: bisect_left(rows, (hi + 1,))]
            if not rows:
                continue
        if descending:
            rows.reverse()
        yield rows


# --- index trees -------------------------------------------------------------------------------------------------------------------


def index_position(pager: Pager, page: bytes | bytearray, pointers: tuple[int, ...], probe: Probe, skip: int = 0) -> int:
    """Number of cells of an index page in front of the probe; only the fields of the probe are decoded."""
    if type(page) is not bytes:
        page = bytes(page)
    if probe.plain is not None:
        try:
            return _plain_position(pager, page, pointers, probe, skip)
        except (TypeError, *DAMAGE):
            pass
    key_fields = probe.layout.key_fields
    is_behind = probe.is_behind
    low, high = 0, len(pointers)
    while low < high:
        middle = (low + high - 1) >> 1
        payload = readable_payloads(pager, page, (pointers[middle],), skip)[0]
        try:
            is_in_front = is_behind(key_fields(payload, probe.count))
        except IndexError:
            raise errors.corrupt() from None
        if is_in_front:
            low = middle + 1
        else:
            high = middle
    return low


def _plain_position(pager: Pager, page: bytes, pointers: tuple[int, ...], probe: Probe, skip: int) -> int:
    """The same where decoded fields compare as they are: decoding is fused into the search."""
    plain = probe.plain
    layout = pager.layout
    shapes = probe.layout.prefix_shapes(probe.count)
    short = layout.max_index if layout.max_index < 127 else 127
    low, high = 0, len(pointers)
    while low < high:
        middle = (low + high - 1) >> 1
        at = pointers[middle] + skip
        size = page[at]
        if size <= short:
            payload = page[at + 1 : at + 1 + size]
        else:
            payload = readable_payloads(pager, page, (pointers[middle],), skip)[0]
            if type(payload) is not bytes:
                raise IndexError
        if shapes[payload[: payload[0]]](payload) < plain:
            low = middle + 1
        else:
            high = middle
    return low


def leaf_search(pager: Pager, page_no: int, probe: Probe) -> tuple[int, int]:
    """(number of cells of an index leaf in front of the probe, number of its cells); decoded keys are kept in ``pager.leaf_keys``.

    Keys are values for plain layouts, else sort keys; the writer keeps the lists in step with the cells.
    """
    page = pager.get(page_no)
    at = 100 if page_no == 1 else 0
    if page[at] != LEAF_INDEX:
        raise errors.corrupt()
    high = count = page[at + 3] << 8 | page[at + 4]
    layout = probe.layout
    if layout.is_plain and probe.plain is None:
        return index_position(pager, page, leaf_index_pointers(page, page_no, pager.layout), probe), count
    keys = pager.leaf_keys.get(page_no)
    if keys is None or len(keys) != count:
        if len(pager.leaf_keys) >= MOST_LEAF_KEYS:
            pager.leaf_keys.clear()
        keys = pager.leaf_keys[page_no] = [None] * count
    target = probe.plain if probe.plain is not None else probe.sort_key()
    low = 0
    try:
        while low < high:
            middle = (low + high - 1) >> 1
            key = keys[middle]
            if key is None:
                key = keys[middle] = _leaf_key(pager, page, at + 8 + 2 * middle, layout)
            if key < target:
                low = middle + 1
            else:
                high = middle
    except TypeError:
        return index_position(pager, page, leaf_index_pointers(page, page_no, pager.layout), probe), count
    except DAMAGE:
        raise errors.corrupt() from None
    return low, count


def _leaf_key(pager: Pager, page: bytes | bytearray, pointer: int, layout: KeyLayout) -> tuple[Any, ...]:
    at = page[pointer] << 8 | page[pointer + 1]
    size = page[at]
    sizes = pager.layout
    if size < 128 and size <= sizes.max_index:
        payload = bytes(page[at + 1 : at + 1 + size])
    else:
        payload = readable_payloads(pager, page, (at,), 0)[0]
    try:
        if type(payload) is not bytes:
            raise IndexError
        key = layout.prefix_shapes(layout.key_columns)[payload[: payload[0]]](payload)
    except DAMAGE:
        key = layout.key_fields(payload, layout.key_columns)
    return key if layout.is_plain else layout.sort_key(key)  # type: ignore[no-any-return]


def leaf_payloads(pager: Pager, page_no: int, first: int, last: int) -> list[bytes]:
    """The payloads of cells first..last-1 of an index leaf."""
    page = pager.get(page_no)
    pointers = pointer_array(last - first).unpack_from(page, (108 if page_no == 1 else 8) + 2 * first)
    return readable_payloads(pager, bytes(page), pointers, 0)


def find_first(pager: Pager, root: int, probe: Probe) -> bytes | None:
    """The first entry behind the probe, None at the end of the tree."""
    page_no = root
    candidate: bytes | None = None
    for _ in range(MAX_DEPTH):
        node = index_node(pager, page_no)
        if node is None:
            index, count = leaf_search(pager, page_no, probe)
            return candidate if index == count else leaf_payloads(pager, page_no, index, index + 1)[0]
        index = node.position(probe)
        if index < node.count:
            candidate = node.payload(index)
        page_no = node.child(index)
    raise errors.corrupt()


def leaf_index_pointers(page: bytes | bytearray, page_no: int, layout: Layout) -> tuple[int, ...]:
    """Cell pointers of an index leaf."""
    kind, pointers = cell_pointers(page, page_no, layout)
    if kind != LEAF_INDEX:
        raise errors.corrupt()
    return pointers


class IndexWalk:
    """One pass over an index tree between two probes."""

    __slots__ = ("descending", "lower", "pager", "project", "upper")

    def __init__(self, pager: Pager, layout: KeyLayout, lower: Probe | None, upper: Probe | None, descending: bool) -> None:
        self.pager = pager
        self.lower = lower
        self.upper = upper
        self.descending = descending
        self.project = layout.prefix_projector

    def blocks(self, page_no: int, depth: int = 0) -> Iterator[list[bytes]]:
        """Lists of payloads in walk order; entries of interior pages end the list of the leaf before them."""
        if depth > MAX_DEPTH:
            raise errors.corrupt()
        pager = self.pager
        node = index_node(pager, page_no)
        if node is None:
            yield self._leaf(page_no, pager.get(page_no))
            return
        first = node.position(self.lower) if self.lower is not None else 0
        last = node.position(self.upper) if self.upper is not None else node.count
        if last < first:
            return
        children = node.children[first : last + 1]
        between = node.payloads[first:last]
        if self.descending:
            between.reverse()
        between.append(b"")
        edge = children[-1 if self.descending else 0]
        if check_child(pager.get(edge), edge, INDEX_KINDS) == INTERIOR_INDEX:
            if self.descending:
                children.reverse()
            for child, entry in zip(children, between, strict=True):
                check_child(pager.get(child), child, INDEX_KINDS)
                yield from self.blocks(child, depth + 1)
                if entry:
                    yield [entry]
            return
        for (child, page), entry in zip(child_images(pager, children, self.descending), between, strict=True):
            if check_child(page, child, INDEX_KINDS) == LEAF_INDEX:
                rows = self._leaf(child, page)
                if entry:
                    rows.append(entry)
                yield rows
                continue
            yield from self.blocks(child, depth + 1)       # not all children are of one level
            if entry:
                yield [entry]

    def _leaf(self, page_no: int, page: bytes | bytearray) -> list[bytes]:
        pager = self.pager
        pointers = leaf_index_pointers(page, page_no, pager.layout)
        try:
            if self.lower is not None and pointers and not self._is_inside_low(page, pointers[0]):
                pointers = pointers[index_position(pager, page, pointers, self.lower) :]
            if self.upper is not None and pointers and not self._is_inside_high(page, pointers[-1]):
                pointers = pointers[: index_position(pager, page, pointers, self.upper)]
        except IndexError:
            raise errors.corrupt() from None
        rows = readable_payloads(pager, bytes(page), pointers, 0)
        if self.descending:
            rows.reverse()
        return rows

    def _is_inside_low(self, page: bytes | bytearray, at: int) -> bool:
        assert self.lower is not None
        return index_position(self.pager, page, (at,), self.lower) == 0

    def _is_inside_high(self, page: bytes | bytearray, at: int) -> bool:
        assert self.upper is not None
        return index_position(self.pager, page, (at,), self.upper) == 1


def index_blocks(
    pager: Pager,
    root: int,
    layout: KeyLayout,
    lower: tuple[tuple[Value, ...], bool] | None,
    upper: tuple[tuple[Value, ...], bool] | None,
    descending: bool,
) -> Iterator[list[bytes]]:
    """Lists of payloads between two bounds, one a leaf, never empty."""
    low = Probe(layout, *lower) if lower is not None else None
    high = Probe(layout, *upper) if upper is not None else None
    page_no = root
    if low is not None and high is not None:
        # narrow ranges mostly lie in one leaf: go down as long as both bounds lead to the same child
        for _ in range(MAX_DEPTH):
            node = index_node(pager, page_no)
            if node is None:
                first, last = leaf_search(pager, page_no, low)[0], leaf_search(pager, page_no, high)[0]
                if first < last:
                    rows = leaf_payloads(pager, page_no, first, last)
                    if descending:
                        rows.reverse()
                    yield rows
                return
            index = node.position(low)
            if index != node.position(high):
                break
            page_no = node.child(index)
    for rows in IndexWalk(pager, layout, low, high, descending).blocks(page_no):
        if rows:
            yield rows


# --- shapes of whole trees ---------------------------------------------------------------------------------------------------------


def lowest_interiors(pager: Pager, page_no: int, kind: int, depth: int = 0) -> Iterator[tuple[list[int], list[Any]]]:
    """(leaf children, entries or keys between and behind them) of each lowest interior page, in key order.

    The second list has one item per child: what follows it; the very last is None.
    """
    if depth > MAX_DEPTH:
        raise errors.corrupt()
    parsed: tuple[list[int], list[Any]] | None
    if kind == INTERIOR_TABLE:
        table = table_node(pager, page_no)
        parsed = None if table is None else (table[1], list(table[0]))
    else:
        index = index_node(pager, page_no)
        parsed = None if index is None else (index.children, list(index.payloads))
    if parsed is None:
        yield [page_no], [None]
        return
    children, between = parsed
    between.append(None)
    if page_kind(pager, children[0]) != kind:
        yield list(children), between
        return
    for child, entry in zip(children, between, strict=True):
        for leaves, follows in lowest_interiors(pager, child, kind, depth + 1):
            if follows[-1] is None:
                follows[-1] = entry
            yield leaves, follows


def sample_size(pager: Pager, root: int, kind: int) -> tuple[int, int]:
    """(leaves, entries) estimated from a few pages on each level."""
    level = [root]
    width = 1.0
    interior_entries = 0.0
    for _ in range(MAX_DEPTH):
        if page_kind(pager, level[0]) != kind:
            break
        fan = 0
        below: list[int] = []
        for page_no in level:
            node = pager.nodes.get(page_no)
            if node is None or (type(node) is tuple) is not (kind == INTERIOR_TABLE):
                children = _children(pager, page_no, kind)
            else:
                children = node[1] if kind == INTERIOR_TABLE else node.children
            fan += len(children)
            step = max(1, len(children) // 3)
            below += children[step // 2 :: step][:3]
        average = fan / len(level)
        interior_entries += width * (average - 1)
        width *= average
        level = below[:: max(1, len(below) // 8)][:8]
    cells = 0
    for page_no in level:
        page = pager.get(page_no)
        at = 100 if page_no == 1 else 0
        cells += page[at + 3] << 8 | page[at + 4]
    entries = width * cells / len(level)
    if kind == INTERIOR_INDEX:
        entries += interior_entries
    return round(width), round(entries)


def _children(pager: Pager, page_no: int, kind: int) -> list[int]:
    page = pager.get(page_no)
    found, pointers = cell_pointers(page, page_no, pager.layout)
    if found != kind:
        raise errors.corrupt()
    children = [int.from_bytes(page[at : at + 4], "big") for at in pointers]
    at = (100 if page_no == 1 else 0) + 8
    children.append(int.from_bytes(page[at : at + 4], "big"))
    return children


def count_cells(pager: Pager, page_numbers: list[int], kind: int) -> int:
    """Sum of the cell counts of leaf pages."""
    total = 0
    size = pager.page_size
    most = pager.layout.most_cells
    for start in range(0, len(page_numbers), 256):
        batch = page_numbers[start : start + 256]
        images = pager.read_run(batch)
        for index, page_no in enumerate(batch):
            at = index * size + (100 if page_no == 1 else 0)
            count = images[at + 3] << 8 | images[at + 4]
            if images[at] != kind or count > most or (not count and len(page_numbers) > 1):
                raise errors.corrupt()
            total += count
    return total

