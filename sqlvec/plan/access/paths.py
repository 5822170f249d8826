"""Access paths from chosen loops, and which conditions they make superfluous.

A condition that a search enforces exactly isn't checked again.  A derived term enforces its parent together with its siblings: ``x BETWEEN a AND b``
is dropped when both bounds are used.

Invariants
1. Only conditions that read nothing beyond this level are dropped: a term that came through an equivalence is checked at its own place.
2. Row-value comparisons and row-value IN are always checked again (NULL components).

Follows "Query Planning" of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import Expression, InSubquery, Literal, RowCompare, without_fixed_columns
from sqlvec.plan import physical
from sqlvec.plan.access.candidates import AUTOMATIC, BIG_NULL, BY_ROWID, COVERING, MULTI_OR, VIRTUAL_TABLE, Candidates, Loop
from sqlvec.plan.access.terms import EQ, GE, IN, LE, NULL, Clause, Scope, Term
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.plan.logical import FromItem

_APPLY = {"C": "C", "B": "B"}


class PathBuilder:
    """Builds the paths of one block.  ``ready`` grows from level to level."""

    __slots__ = ("big_null", "candidates", "clause", "coroutine", "is_extreme", "ready", "scope")

    def __init__(self, candidates: Candidates, coroutine: int, is_extreme: bool = False) -> None:
        self.candidates = candidates
        self.clause: Clause = candidates.clause
        self.scope: Scope = candidates.scope
        self.coroutine = coroutine              # the FROM position that runs as a co-routine, or -1
        self.is_extreme = is_extreme
        self.ready = 0
        self.big_null: bool | None = None       # a wanted order puts NULLs last (True) or first (False), against nature

    def build(self, loop: Loop, reverse: bool) -> physical.Path:
        """The path of the next level; marks the terms that it enforces as used."""
        item = self.scope.items[loop.position]
        self.ready |= loop.bit
        if loop.flags & VIRTUAL_TABLE:
            path = resolve("sqlvec.plan.access.virtual_table:build_path")(self, loop, item)
        elif loop.flags & MULTI_OR:
            path = resolve("sqlvec.plan.access.or_paths:build_path")(self, loop, item)
        elif loop.flags & AUTOMATIC:
            path = resolve("sqlvec.plan.access.automatic_index:build_path")(self, loop, item, reverse)
        elif loop.flags & BY_ROWID:
            path = self._by_rowid(loop, item, reverse)
        else:
            path = self._by_index(loop, item, reverse)
        path.used = tuple(sorted(item.used))
        path.for_extreme = self.is_extreme
        return path

    def scan(self, item: FromItem, position: int, reverse: bool = False) -> physical.Path:
        """The full scan of a FROM item that has no index to choose."""
        if item.table is not None:
            return physical.TableScan(item.source, item.label, item.table, reverse)
        plan = self.candidates.request.query_plans[item.source]
        if item.recursive is not None:
            return physical.RecursiveScan(item.source, item.label, plan.slot)
        scan = physical.QueryScan(item.source, item.label, plan.node, position != self.coroutine, plan.slot)
        scan.outer = plan.outer
        scan.name = item.name
        scan.convert(item.affinities)
        scan.reverse = reverse and scan.materialized
        return scan

    def _by_rowid(self, loop: Loop, item: FromItem, reverse: bool) -> physical.Path:
        if item.table is None or not loop.terms:
            return self.scan(item, loop.position, reverse)
        path = physical.RowidSearch(item.source, item.label, item.table, descending=reverse)
        if loop.equal:
            term = loop.terms[0]
            assert term is not None
            path.key = key_term(term)
            self._enforced_for(-1, term, item)
        else:
            self._bounds(path, loop, item, -1)
        return path

    def _by_index(self, loop: Loop, item: FromItem, reverse: bool) -> physical.Path:
        index = loop.index
        assert index is not None and item.table is not None
        keys = []
        for place, term in enumerate(loop.terms[:loop.equal]):
            if term is None:
                keys.append(physical.KeyTerm("ANY", None))
            else:
                keys.append(key_term(term))
                self._enforced_for(index.columns[place].column, term, item)
        path = physical.IndexSearch(item.source, item.label, item.table, index, tuple(keys))
        path.covering = bool(loop.flags & COVERING) and not item.right
        path.descending = reverse
        if loop.flags & BIG_NULL and self.big_null is not None:
            path.null_scan = "last" if self.big_null else "first"
        if loop.lower is not None or loop.upper is not None:
            self._bounds(path, loop, item, index.columns[loop.equal].column)
        return path

    def _bounds(self, path: physical.IndexSearch | physical.RowidSearch, loop: Loop, item: FromItem, column: int) -> None:
        if loop.lower is not None:
            path.lower = range_bound(loop.lower, loop.lower_width)
            self._enforced_for(column, loop.lower, item)
        if loop.upper is not None:
            path.upper = range_bound(loop.upper, loop.upper_width)
            self._enforced_for(column, loop.upper, item)

    def enforced_whole(self, term: Term, item: FromItem) -> None:
        """Note that the path makes sure of an OR term."""
        if not term.needs & ~self.ready and not (item.left and term.outer_on is None):
            term.used = True

    def _enforced_for(self, column: int, term: Term, item: FromItem) -> None:
        """Note that a search by ``column`` makes sure of a term, unless the term is about another column and came through an equivalence."""
        rowid = (-1, item.table.rowid_column) if item.table is not None else (-1,)
        if term.column == column or (term.column in rowid and column in rowid):
            self.enforced(term, item)

    def enforced(self, term: Term, item: FromItem) -> None:
        """Note that the path makes sure of a term."""
        if term.source != item.source or isinstance(term.expression, RowCompare):
            return
        if isinstance(term.expression, InSubquery) and len(term.expression.operands) > 1:
            return
        level = 0
        current: Term | None = term
        while current is not None:
            if current.used or current.needs & ~self.ready or (item.left and current.outer_on is None):
                return
            if level and not term.is_complete:
                return
            current.used = True
            current = current.parent
            level += 1
            if current is None:
                return
            current.children -= 1
            if current.children:
                return


def key_term(term: Term) -> physical.KeyTerm:
    """The KeyTerm of an equality, IN or ISNULL term."""
    if term.operator == NULL:
        return physical.KeyTerm("NULL", None)
    assert term.right is not None
    if term.operator & IN:
        return physical.KeyTerm("IN", without_fixed_columns(term.right), term.applied, term.number)
    return physical.KeyTerm("=" if term.operator & EQ else "IS", without_fixed_columns(term.right), applied_to_value(term))


def applied_to_value(term: Term) -> str | None:
    """The affinity to apply to a sought value: the comparison's, or the one that the column's side implies."""
    return term.applied if term.applied is not None else _APPLY.get(term.sides or "")


def range_bound(term: Term, width: int) -> physical.RangeBound:
    """The RangeBound of a comparison, of the first ``width`` components of a row value."""
    expression = term.expression
    right = term.right
    assert right is not None
    inclusive = bool(term.operator & (GE | LE))
    if term.not_null:
        bound = physical.RangeBound((Literal(None),), False)
        bound.after_nulls = True
        return bound
    if isinstance(expression, RowCompare):
        swapped = expression.comparisons[0].left is not term.left
        pairs = expression.comparisons[:width]
        values: tuple[Expression, ...] = tuple(without_fixed_columns(pair.left if swapped else pair.right) for pair in pairs)
        return physical.RangeBound(values, inclusive or width < len(expression.comparisons), tuple(pair.applied for pair in pairs))
    return physical.RangeBound((without_fixed_columns(right),), inclusive, (applied_to_value(term),))
