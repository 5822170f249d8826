"""Terms of HAVING that read only grouping expressions are checked before grouping.

Follows the HAVING clause in "SELECT" of the manual; the values of such a term are the same for all rows of a group.
"""
from __future__ import annotations

from sqlvec.expr.bound import And, Call, Expression, Literal
from sqlvec.plan.logical import Block, Condition

TYPE_CHECKING = False
_NEVER = frozenset(("Column", "AggregateCall", "WindowCall", "ScalarSubquery", "Exists", "InSubquery", "Raise"))


def having_to_where(block: Block) -> None:
    """Move what can be moved from ``block.having`` to its conditions."""
    having = block.having
    assert having is not None and block.group_by is not None
    keys = {key.key() for key in block.group_by if (key.collation or "BINARY").upper() == "BINARY"}
    terms = having.operands if isinstance(having, And) else (having,)
    staying = []
    is_never = any(_is_false(condition.expression) for condition in block.conditions)
    for term in terms:
        if not _is_false(term) and _is_over(term, keys):  # type: ignore[arg-type]
            if not is_never:
                block.conditions.append(Condition(term))
        else:
            staying.append(term)
    if len(staying) < len(terms):
        block.having = None if not staying else staying[0] if len(staying) == 1 else And(tuple(staying))


def _is_over(expression: Expression, keys: set[object]) -> bool:
    """Made of grouping expressions and constants only."""
    if expression.key() in keys:
        return True
    if type(expression).__name__ in _NEVER:
        return False
    if isinstance(expression, Call) and not (expression.function.deterministic or getattr(expression.function, "slow_change", False)):
        return False
    return all(_is_over(child, keys) for child in expression.children())


def _is_false(expression: Expression) -> bool:
    return isinstance(expression, Literal) and type(expression.value) is int and expression.value == 0
