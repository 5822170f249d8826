"""Constant propagation: with the AND-term ``x = 5``, other occurrences of ``x`` in WHERE mean 5.

A replaced column (``FixedColumn``) no longer ties its condition to its table: ``t1.a=5 AND t2.b=t1.a`` lets ``t2.b=5`` drive t2.  What stands in for
the column is the constant as the column would hold it, with the column's affinity.

Follows "Constant Propagation" (the WHERE-clause optimisation) in "The SQLite Query Optimizer Overview" of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import Between, Column, Compare, Expression, FixedColumn, Literal, Stored, Unary, without_fixed_columns
from sqlvec.plan.logical import Block, Condition
from sqlvec.values.storage import apply_affinity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_COMPARISONS = frozenset(("=", "<", "<=", ">", ">=", "IS"))


def propagate_constants(block: Block) -> bool:
    """Replace columns by the constants that WHERE equates them with."""
    if len(block.conditions) < 2:
        return False
    done = False
    has_right = any(item.right for item in block.from_items)
    while True:
        constants = _constants(block, has_right)
        if not constants or not _apply(block, constants, has_right):
            return done
        done = True


def _constants(block: Block, has_right: bool) -> dict[tuple[int, int], tuple[Column, Expression, Condition]]:
    found: dict[tuple[int, int], tuple[Column, Expression, Condition]] = {}
    sources = {item.source for item in block.from_items}
    for condition in reversed(block.conditions):        # the last equality of a column is the one that stays
        expression = condition.expression
        if condition.outer_on is not None or (has_right and condition.inner_on is not None):
            continue
        if type(expression) is not Compare or expression.operator != "=" or expression.using.upper() != "BINARY":
            continue
        for column, value in ((expression.right, expression.left), (expression.left, expression.right)):
            if type(column) is Column and column.source in sources and value.affinity is None and _is_constant(value):
                found.setdefault((column.source, column.number), (column, value, condition))
                break
    return found


def _is_constant(value: Expression) -> bool:
    for node in value.walk():
        if type(node).__name__ in ("Column", "ScalarSubquery", "Exists", "InSubquery", "AggregateCall", "WindowCall", "Raise"):
            return False
        function = getattr(node, "function", None)
        if function is not None and not function.deterministic:
            return False
    return True


def _apply(block: Block, constants: dict[tuple[int, int], tuple[Column, Expression, Condition]], has_right: bool) -> bool:
    changed = False
    for condition in block.conditions:
        if not condition.is_using and (condition.outer_on is not None or (has_right and condition.inner_on is not None)):
            continue
        origins = {at for at, (_, _, origin) in constants.items() if origin is condition}

        def change(node: Expression, origins: set[tuple[int, int]] = origins) -> Expression | None:
            if isinstance(node, Between):
                return _in_between(node, change)
            if isinstance(node, Compare) and node.operator in _COMPARISONS:
                return _in_comparison(node, constants, origins)
            if type(node) is Column and node.affinity != "A":
                return _stand_in(node, constants, origins)
            return None

        new = condition.expression.replace(change)
        if new is not condition.expression:
            condition.expression = new
            changed = True
    return changed


def _in_between(node: Between, change: Callable[[Expression], Expression | None]) -> Expression | None:
    """BETWEEN isn't a comparison here: its operands are replaced one by one."""
    operand, low, high = (part.replace(change) for part in (node.operand, node.low.right, node.high.right))
    if operand is node.operand and low is node.low.right and high is node.high.right:
        return node
    new = node.copy()
    new.low = Compare(node.low.operator, operand, low, node.low.applied, node.low.using)
    new.high = Compare(node.high.operator, operand, high, node.high.applied, node.high.using)
    return new  # type: ignore[no-any-return]


def _in_comparison(node: Compare, constants: dict[tuple[int, int], tuple[Column, Expression, Condition]],
                   origins: set[tuple[int, int]]) -> Expression | None:
    """Columns of BLOB affinity (not those of sub-queries that have none at all) are replaced as direct operands of comparisons only, the right one not
    beside a TEXT operand."""
    left = _stand_in(node.left, constants, origins) if type(node.left) is Column and node.left.affinity == "A" else None
    right = None
    if type(node.right) is Column and node.right.affinity == "A" and node.left.affinity != "B":
        right = _stand_in(node.right, constants, origins)
    if left is None and right is None:
        return None
    new = node.copy()
    new.left = left or node.left
    new.right = right or node.right
    return new  # type: ignore[no-any-return]


def _stand_in(node: Expression, constants: dict[tuple[int, int], tuple[Column, Expression, Condition]],
              origins: set[tuple[int, int]]) -> Expression | None:
    if type(node) is not Column:
        return None
    at = (node.source, node.number)
    if at in origins or at not in constants:
        return None
    column, value, _ = constants[at]
    value = _folded(without_fixed_columns(value))
    affinity = column.affinity or "A"
    if isinstance(value, Literal):
        new = Literal(apply_affinity(value.value, affinity))
    else:
        new = value.copy() if affinity == "A" else Stored(value, affinity)  # type: ignore[assignment]
    new.affinity = column.affinity
    new.collation = node.collation
    return FixedColumn(node, new)


def _folded(value: Expression) -> Expression:
    """A signed number as one literal."""
    if isinstance(value, Unary) and isinstance(value.operand, Literal) and type(value.operand.value) in (int, float):
        if value.operator == "-":
            return Literal(-value.operand.value)
        if value.operator == "+":
            return Literal(value.operand.value)
    return value
