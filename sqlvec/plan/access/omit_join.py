"""Leave out a LEFT JOIN whose right table nothing needs.

The right table goes when no result column or ORDER BY term reads it, no condition but its own ON refers to it, and it cannot multiply rows: the loop
finds at most one row, or the query is DISTINCT.

Follows "Omit OUTER JOIN" in "The SQLite Query Optimizer Overview" of the manual.
"""
from __future__ import annotations

from sqlvec.plan.access.candidates import ONE_ROW, Loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.plan.access.result import JoinPlan, Request
    from sqlvec.plan.access.terms import Clause
    from sqlvec.plan.logical import Block


def omit_joins(block: Block, request: Request, clause: Clause, loops: tuple[Loop, ...], plan: JoinPlan) -> tuple[Loop, ...]:
    """The loops that remain; the sources of the others go into ``plan.omitted``."""
    items = block.from_items
    if not any(item.left for item in items):
        return loops
    scope = clause.scope
    needed = 0
    for expression in block.result:
        needed |= scope.mask(expression)
    for term in (*request.order, *block.order_by):
        needed |= scope.mask(term.expression)
    kept = list(loops)
    for loop in reversed(loops[1:]):
        item = items[loop.position]
        if not item.left or item.right or needed & loop.bit:
            continue
        if request.distinct is None and not loop.flags & ONE_ROW:
            continue
        if any(term.needs & loop.bit and term.outer_on != item.source for term in clause.terms):
            continue
        kept.remove(loop)
        plan.omitted = (*plan.omitted, item.source)
        for term in clause.terms:  # type: ignore[assignment]
            if term.needs & loop.bit:  # type: ignore[attr-defined]
                term.used = True  # type: ignore[attr-defined]
    return tuple(kept)
