"""OR terms: an OR over one column becomes an IN list, other ORs may be served by one index search per disjunct.

Follows "OR optimizations" in "The SQLite Query Optimizer Overview" of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import Compare, InList, Or
from sqlvec.plan.access.terms import EQ, EXPRESSION, GE, GT, INDEXABLE, LE, LT, NO_SOURCE, OR, Clause, Term

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.expr.bound import Expression

_SIDES = EQ | LT | LE | GT | GE


def analyse_or(clause: Clause, term: Term) -> None:
    """Classify an OR term: derive an IN list or a combined comparison, or note which tables could serve every disjunct."""
    scope = clause.scope
    disjuncts = Clause(scope, "OR", clause.outer)
    assert isinstance(term.expression, Or)
    disjuncts.split(term.expression, term.outer_on, term.inner_on)
    disjuncts.analyse()
    term.disjuncts = disjuncts
    indexable = to_in = -1
    for disjunct in disjuncts.terms:
        if not indexable:
            break
        if not disjunct.operator & INDEXABLE:
            to_in = 0
            indexable &= _and_group(clause, disjunct)
        elif not disjunct.copied:
            mask = scope.bits.get(disjunct.source, 0)
            if disjunct.virtual and disjunct.parent is not None:
                mask |= scope.bits.get(disjunct.parent.source, 0)
            indexable &= mask
            to_in = to_in & mask if disjunct.operator & EQ else 0
    term.indexable_by = indexable
    term.operator = OR
    if indexable:
        clause.has_or = True
        if len(disjuncts.terms) == 2:
            for one in _parts(disjuncts.terms[0]):
                for two in _parts(disjuncts.terms[1]):
                    _combine(clause, term, one, two)
    if to_in:
        _change_to_in(clause, term, disjuncts, to_in)


def _and_group(clause: Clause, disjunct: Term) -> int:
    """Analyse a disjunct as a clause of its own; the tables that some term of it could be an index constraint of."""
    group = Clause(clause.scope, "AND", clause)
    group.split(disjunct.expression, disjunct.outer_on, disjunct.inner_on)
    group.analyse()
    disjunct.clause = group
    mask = 0
    for term in group.terms:
        if term.operator & INDEXABLE:
            mask |= clause.scope.bits.get(term.source, 0)
    return mask


def _parts(disjunct: Term) -> list[Term]:
    """The terms of an AND-group, or the disjunct itself."""
    return list(disjunct.clause.terms) if disjunct.clause is not None else [disjunct]


def _combine(clause: Clause, term: Term, one: Term, two: Term) -> None:
    """``x < a OR x = a`` implies ``x <= a``."""
    operators = one.operator | two.operator
    if one.operator & _SIDES == 0 or two.operator & _SIDES == 0 or operators & ~_SIDES:
        return
    if operators & ~(EQ | LT | LE) and operators & ~(EQ | GT | GE):
        return
    if not isinstance(one.expression, Compare) or not isinstance(two.expression, Compare):
        return
    if one.expression.left != two.expression.left or one.expression.right != two.expression.right:
        return
    if operators & (operators - 1):
        operators = LE if operators & (LT | LE) else GE
    name = {EQ: "=", LT: "<", LE: "<=", GT: ">", GE: ">="}[operators]
    written = one.expression
    clause._analyse(clause._derive(Compare(name, written.left, written.right, written.applied, written.using), term))


def _change_to_in(clause: Clause, term: Term, disjuncts: Clause, to_in: int) -> None:
    """All disjuncts are equalities: find the one column that is in each of them."""
    scope = clause.scope
    tried: list[tuple[int, int, object]] = []
    for candidate in disjuncts.terms:
        at = (candidate.source, candidate.column, candidate.left_key)
        if at in tried or not scope.bits.get(candidate.source, 0) & to_in:
            continue
        tried.append(at)
        if len(tried) > 2:
            return
        found = _items_for(disjuncts, at)
        if found is None:
            continue
        left, items = found
        applied = next((one.applied for one in disjuncts.terms if one.applied is not None), None)
        child = clause._derive(InList(left, tuple(items), False, applied, candidate.using), term)
        clause._analyse(child)
        if child.operator == 0 and child.source == NO_SOURCE:
            clause.terms.remove(child)
            return
        clause._child(child, term)
        return


def _items_for(disjuncts: Clause, at: tuple[int, int, object]) -> tuple[Expression, list[Expression]] | None:
    """The right-hand sides for the column ``at``, one for each disjunct as written; None when a disjunct hasn't that column."""
    left = None
    items: list[Expression] = []
    for disjunct in disjuncts.terms[:disjuncts.base]:
        versions = [disjunct] + [other for other in disjuncts.terms[disjuncts.base:] if other.parent is disjunct]
        chosen = next((one for one in versions if (one.source, one.column, one.left_key) == at), None)
        if chosen is None or chosen.left is None or chosen.right is None or (chosen.column == EXPRESSION and chosen.left_key is None):
            return None
        if chosen.right.affinity is not None and chosen.right.affinity != chosen.left.affinity:
            return None
        left = left or chosen.left
        items.append(chosen.right)
    return None if left is None else (left, items)
