"""How much of a tree a constant search covers: asked at placement, so without numpy.

The place of a key in a tree is told from the interior pages on the way down to it: child i of n children begins at i/n of its parent's share.
The difference of the places of both ends is the share of the search; three or four pages are read for each end.
"""
from __future__ import annotations

from sqlvec.expr.compile import compile_value
from sqlvec.pages.page import INTERIOR_INDEX, INTERIOR_TABLE, header_offset, index_interior, table_interior
from sqlvec.pages.record import decode
from sqlvec.plan import physical
from sqlvec.values.compare import compare
from sqlvec.values.storage import apply_affinity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.exec.context import RunContext

MAX_DEPTH = 20


def share_of(path: Any, context: RunContext) -> float:
    """The share (0 to 1) of its tree that a search by constants finds; 0 where that can't be told."""
    if isinstance(path, physical.RowidSearch):
        if path.key is not None:
            return 0.0
        tree = context.table_tree(path.table)
        low = _rowid_place(tree, _bound(path.lower, context), False) if path.lower is not None else 0.0
        high = _rowid_place(tree, _bound(path.upper, context), True) if path.upper is not None else 1.0
        return max(0.0, high - low)
    return _index_share(path, context)


def _index_share(path: physical.IndexSearch, context: RunContext) -> float:
    """As :func:`share_of`, of a search of an index."""
    prefix = [apply_affinity(compile_value(term.expression, (), context)(()), term.applied) for term in path.keys if term.expression is not None]
    tree = context.index_tree(path.index)
    low_key = [*prefix, _bound(path.lower, context)] if path.lower is not None else prefix
    high_key = [*prefix, _bound(path.upper, context)] if path.upper is not None else prefix
    low = _entry_place(tree, path.index, low_key, False, context) if low_key else 0.0
    high = _entry_place(tree, path.index, high_key, True, context) if high_key else 1.0
    return max(0.0, high - low)


def _bound(edge: Any, context: RunContext) -> Any:
    return apply_affinity(compile_value(edge.expressions[0], (), context)(()), edge.applied[0])


def _rowid_place(tree: Any, rowid: Any, after: bool) -> float:
    """The share of rows before (or up to) a rowid."""
    if type(rowid) not in (int, float):
        return 1.0
    pager = tree.pager
    page_no = tree.root
    start, width = 0.0, 1.0
    for _ in range(MAX_DEPTH):
        page = pager.get(page_no)
        if page[header_offset(page_no)] != INTERIOR_TABLE:
            break
        keys, children = table_interior(page, page_no, pager.layout)
        number = sum(1 for key in keys if key < rowid or (after and key == rowid))
        width /= len(children)
        start += number * width
        page_no = children[number]
    return start + width / 2


def _entry_place(tree: Any, index: Any, wanted: list[Any], after: bool, context: RunContext) -> float:
    """The share of entries before (or up to) all that begin with ``wanted``."""
    collations = [context.collations.lookup(column.collation) for column in index.columns]
    directions = [column.descending for column in index.columns]

    def is_before(payload: bytes) -> bool:
        for value, key, collation, descending in zip(decode(payload), wanted, collations, directions, strict=False):
            sign = compare(value, key, collation)
            if sign:
                return (sign < 0) is not descending
        return after

    pager = tree.pager
    page_no = tree.root
    start, width = 0.0, 1.0
    for _ in range(MAX_DEPTH):
        page = pager.get(page_no)
        if page[header_offset(page_no)] != INTERIOR_INDEX:
            break
        payloads, children = index_interior(page, page_no, pager.layout, pager.read_overflow)
        low, high = 0, len(payloads)
        while low < high:
            middle = (low + high) >> 1
            if is_before(payloads[middle]):
                low = middle + 1
            else:
                high = middle
        width /= len(children)
        start += low * width
        page_no = children[low]
    return start + width / 2
