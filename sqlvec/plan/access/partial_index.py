"""When a partial index may be used: each AND part of its WHERE clause is implied by some term of the query.

Follows "Partial Indexes" of the manual, "Queries Using Partial Indexes".
"""
from __future__ import annotations

from sqlvec.expr.bound import And, Between, Binary, Collate, Column, Compare, InList, InSubquery, IsNull, IsTruth, Literal, Or, Unary
from sqlvec.plan.access.terms import strip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.expr.bound import Expression
    from sqlvec.plan.access.candidates import Candidates
    from sqlvec.plan.logical import FromItem
    from sqlvec.schema.objects import Index

_STRICT = frozenset(("+", "-", "|", "<<", ">>", "||"))
_STRICT_AS_IS = frozenset(("*", "/", "%", "&"))


def is_usable(candidates: Candidates, item: FromItem, index: Index) -> bool:
    """Do the terms of the clause imply the index's WHERE?"""
    if item.left_of_right:
        return False
    bind = candidates.request.bind
    assert bind is not None
    where = bind(item, index.where)
    parts = where.operands if isinstance(where, And) else (where,)
    return all(_is_implied(candidates, item, part) for part in parts)


def _is_implied(candidates: Candidates, item: FromItem, part: Expression) -> bool:
    if isinstance(part, IsNull) and isinstance(part.operand, Column) and part.operand.number >= 0 \
            and item.table.columns[part.operand.number].not_null is not None:  # type: ignore[union-attr]
        return any(isinstance(term.expression, Literal) and term.expression.value == 1 for term in candidates.clause.terms)   # always true
    is_outer = item.left or item.right
    for term in candidates.clause.terms:
        if term.outer_on is not None and term.outer_on != item.source:
            continue
        if is_outer and term.outer_on is None:
            continue
        if term.like and term.left is not None and isinstance(part, IsNull) and part.negated and term.left.key() == strip(part.operand).key():
            return True
        if not term.not_null and implies(term.expression, part):
            return True
    return False


def implies(given: Expression, wanted: Expression) -> bool:
    """Is ``wanted`` true whenever ``given`` is?"""
    if given.key() == wanted.key():
        return True
    if isinstance(wanted, Or) and any(implies(given, operand) for operand in wanted.operands):
        return True
    return isinstance(wanted, IsNull) and wanted.negated and excludes_null(given, wanted.operand, False)


def excludes_null(given: Expression, operand: Expression, below_not: bool) -> bool:
    """Must ``operand`` be non-NULL for ``given`` to be true (or, ``below_not``, non-NULL)?"""
    if strip(given).key() == strip(operand).key():
        return not (isinstance(given, Literal) and given.value is None)
    if isinstance(given, InList):
        return not (given.negated and below_not) and bool(given.items) and excludes_null(given.operand, operand, True)
    if isinstance(given, InSubquery):
        return not (given.negated or below_not) and len(given.operands) == 1 and excludes_null(given.operands[0], operand, True)
    if isinstance(given, Between):
        if below_not or given.negated:
            return False
        return any(excludes_null(one, operand, True) for one in (given.low.right, given.high.right, given.operand))
    if isinstance(given, Compare):
        return given.operator not in ("IS", "IS NOT") and (excludes_null(given.right, operand, True) or excludes_null(given.left, operand, True))
    if isinstance(given, Binary):
        if given.operator not in _STRICT and given.operator not in _STRICT_AS_IS:
            return False
        below_not = below_not or given.operator in _STRICT
        return excludes_null(given.right, operand, below_not) or excludes_null(given.left, operand, below_not)
    if isinstance(given, Collate):
        return excludes_null(given.operand, operand, below_not)
    if isinstance(given, Unary):
        return excludes_null(given.operand, operand, below_not or given.operator in ("NOT", "~"))
    if isinstance(given, IsTruth):
        return not below_not and not given.negated and excludes_null(given.operand, operand, True)
    return False
