"""The branches of a chosen multi-index OR: each disjunct is planned anew as a single-table query.

A branch's WHERE is the disjunct together with the other indexable terms of the block that read no sub-query; what the path doesn't enforce of the
disjunct is checked on the branch's rows, the other terms are checked by the level anyway.

Follows "OR optimizations" in "The SQLite Query Optimizer Overview" of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import And, without_fixed_columns
from sqlvec.plan import physical
from sqlvec.plan.access.candidates import Candidates
from sqlvec.plan.access.join_order import search
from sqlvec.plan.access.terms import AND, INDEXABLE, OR, Clause, Scope
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.expr.bound import Expression
    from sqlvec.plan.access.candidates import Loop
    from sqlvec.plan.access.paths import PathBuilder
    from sqlvec.plan.logical import FromItem

_ANY = INDEXABLE | OR | AND


def build_path(builder: PathBuilder, loop: Loop, item: FromItem) -> physical.Path:
    """The MultiIndexOr of a chosen loop."""
    term = loop.terms[0]
    assert term is not None and item.table is not None
    ready = builder.ready & ~loop.bit
    scope = Scope(builder.scope.items, builder.candidates.request, ~ready)
    others = [other for other in builder.clause.terms if other is not term and not other.virtual and not other.used
              and (other.operator & _ANY or other.equivalent)
              and not any(getattr(node, "subquery", None) is not None for node in other.expression.walk())]
    branches = []
    is_tested = True
    numbers = []
    for number, disjunct in enumerate(term.disjuncts.terms):
        if disjunct.clause is None and disjunct.source != item.source:
            continue
        numbers.append(number + 1)
        clause = Clause(scope, "AND")
        clause.split(disjunct.expression, disjunct.outer_on, disjunct.inner_on)
        own = len(clause.terms)
        for other in others:
            clause.split(other.expression, other.outer_on, other.inner_on)
        clause.analyse()
        candidates = Candidates(clause, builder.candidates.request, (), is_or_branch=True)
        candidates.add_item(loop.position, 0)
        walk = search(candidates.loops, 1, builder.candidates.request.outer_rows, None, 0, None)
        assert walk is not None
        inner = resolve("sqlvec.plan.access.paths:PathBuilder")(candidates, -1)
        path = inner.build(walk.loops[0], False)
        rest: list[Expression] = []
        for one in clause.terms[:own]:
            if one.used or one.virtual:
                continue
            if one.needs & ~loop.bit:
                is_tested = False
            else:
                rest.append(without_fixed_columns(one.expression))
        rest.extend(without_fixed_columns(one.expression) for one in clause.terms[own:]
                    if not one.virtual and not one.used and one.parent in clause.terms[:own])
        condition = None if not rest else rest[0] if len(rest) == 1 else And(tuple(rest))
        branches.append((path, condition))
    if is_tested:
        builder.enforced_whole(term, item)
    path = physical.MultiIndexOr(item.source, item.label, item.table, tuple(branches))
    path.numbers = tuple(numbers)
    return path
