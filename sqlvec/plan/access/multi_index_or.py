"""Multi-index OR: one index search for each disjunct.

Follows "OR optimizations" in "The SQLite Query Optimizer Overview" of the manual.
"""
from __future__ import annotations

from sqlvec.plan.access.candidates import MULTI_OR, Candidates, Loop, OrSet
from sqlvec.plan.access.cost import add
from sqlvec.plan.access.terms import OR, Clause

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.plan.access.terms import Term


def add_or(candidates: Candidates, position: int, prereq: int) -> None:
    """Candidates of the FROM item at ``position`` from the OR terms of the clause."""
    item = candidates.scope.items[position]
    if item.right:
        return
    bit = 1 << position
    for term in candidates.clause.terms:
        if term.operator != OR or not term.indexable_by & bit:
            continue
        total = _disjuncts(candidates, term, position, prereq)
        if total is None:
            continue
        for needs, run, rows in total.costs:
            loop = Loop(position)
            loop.flags = MULTI_OR
            loop.terms = [term]
            loop.run = run + 1
            loop.rows = rows
            loop.prereq = needs
            candidates.insert(loop)


def _disjuncts(candidates: Candidates, term: Term, position: int, prereq: int) -> OrSet | None:
    """The combined cost of one search for each disjunct, None when one of them has none."""
    source = candidates.scope.items[position].source
    total: OrSet | None = None
    for disjunct in term.disjuncts.terms:
        if disjunct.clause is not None:
            clause = disjunct.clause
        elif disjunct.source == source:
            clause = Clause(candidates.scope, "AND", candidates.clause)
            clause.terms = [disjunct]
            clause.base = 1
        else:
            continue
        inner = Candidates(clause, candidates.request, (), is_or_branch=True)
        inner.loops = candidates.loops
        inner.or_set = OrSet()
        candidates.sort_id = 0
        if candidates.scope.items[position].table is not None and candidates.scope.items[position].table.kind == "virtual":  # type: ignore[union-attr]
            return None
        inner.add_tree(position, prereq)
        if clause.has_or:
            add_or(inner, position, prereq)
        costs = inner.or_set
        if not costs.costs:
            return None
        if total is None:
            total = costs
            continue
        combined = OrSet()
        for one in total.costs:
            for two in costs.costs:
                combined.insert(one[0] | two[0], add(one[1], two[1]), add(one[2], two[2]))
        total = combined
    return total
