"""LEFT JOIN becomes an inner join where WHERE can't be true for a null-extended row.

WHERE here includes the ON terms of inner joins.  An AND-term proves the right table's row to be real when it reads a column of it through operators
that give NULL for NULL.  ``x IS NOT NULL`` and likely() count as the very first term only, as in SQLite.

Follows "OUTER JOIN Strength Reduction" in "The SQLite Query Optimizer Overview" of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import And, Between, Column, Compare, Expression, IsNull
from sqlvec.plan.access.terms import strip
from sqlvec.plan.logical import Block, FromItem

_OPAQUE = frozenset(("IsNull", "IsTruth", "Or", "RowCompare", "Case", "InList", "InSubquery", "Call", "AggregateCall", "WindowCall", "Exists",
                     "ScalarSubquery", "Raise"))


def simplify_outer_join(block: Block, item: FromItem) -> bool:
    """Turn the LEFT JOIN that ``item`` is the right operand of into an inner join, if WHERE allows."""
    if not item.left or item.right:
        return False
    source = item.source
    for number, condition in enumerate(block.conditions):
        if condition.outer_on is None and _term_excludes_null_row(condition.expression, source, number == 0, item):
            break
    else:
        return False
    item.left = False
    for condition in block.conditions:
        if condition.outer_on == source:
            condition.outer_on = None
            condition.inner_on = source
        if not item.left_of_right:
            condition.expression = declared_nulls(condition.expression, item)
    return True


def declared_nulls(expression: Expression, item: FromItem) -> Expression:
    """The expression with the item's columns NOT NULL again where they are declared so."""
    table = item.table
    if table is None or table.kind != "table":
        return expression

    def change(node: Expression) -> Expression | None:
        if type(node) is Column and node.source == item.source and not node.not_null \
                and (node.number < 0 or table.columns[node.number].not_null is not None):
            new = node.copy()
            new.not_null = True
            return new  # type: ignore[no-any-return]
        return None

    return expression.replace(change)


def _term_excludes_null_row(expression: Expression, source: int, is_first: bool, item: FromItem) -> bool:
    if is_first:
        expression = strip(expression)
    if is_first and isinstance(expression, IsNull) and expression.negated:
        expression = expression.operand
    return _reads(expression, source, item)


def _reads(expression: Expression, source: int, item: FromItem) -> bool:
    """Does the expression read a column of ``source`` through operators that are NULL for NULL only?"""
    if type(expression) is Column:
        return expression.source == source
    if type(expression).__name__ in _OPAQUE:
        return False
    if isinstance(expression, And):
        return all(_reads(operand, source, item) for operand in expression.operands)
    if isinstance(expression, Between):
        return _reads(expression.operand, source, item)
    if isinstance(expression, Compare):
        if expression.operator in ("IS", "IS NOT"):
            return False
        if _is_virtual(expression.left) or _is_virtual(expression.right):
            return False
    return any(_reads(child, source, item) for child in expression.children())


def _is_virtual(expression: Expression) -> bool:
    return isinstance(expression, Column) and expression.table is not None and expression.table.kind == "virtual"
