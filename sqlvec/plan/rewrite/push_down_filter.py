"""WHERE terms that concern a FROM sub-query alone are copied into it.

They go to the WHERE of each arm, or to HAVING where the arm aggregates; the outer query keeps them.  Over window functions only terms on the PARTITION BY
expressions may pass.

Follows "The WHERE-clause push-down optimization" in "The SQLite Query Optimizer Overview" of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import BINARY, And, Between, Call, Collate, Column, Compare, Expression, InList, Literal, compare, simple_affinity, without_fixed_columns
from sqlvec.plan.logical import Block, Compound, Condition, FromItem
from sqlvec.plan.rewrite.substitute import copied_subqueries, without_subtype

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.plan.scope import Binding


def push_down_filter(block: Block, item: FromItem, binding: Binding) -> bool:
    """Copy what can be copied of the block's conditions into the sub-query of ``item``."""
    arms = _arms(item)
    if arms is None:
        return False
    changed = False
    for condition in reversed(block.conditions):
        if item.left:
            if condition.outer_on != item.source:
                continue
        elif condition.outer_on is not None:
            continue
        expression = without_fixed_columns(condition.expression)
        if not _concerns_only(expression, item.source):
            continue
        if any(arm.windows and not _over_partition(expression, item.source, arm) for arm in arms):
            changed = True                      # SQLite has touched it, and the sub-query isn't shared any more
            continue
        for arm in arms:
            inside = copied_subqueries(_inside(expression, item.source, arm, arms[0]), binding)
            assert inside is not None
            _add(arm, inside)
        changed = True
    return changed


def _arms(item: FromItem) -> list[Block] | None:
    """The blocks that terms may go into, None when nothing may be pushed."""
    query = item.query
    if query is None or query.limit is not None or item.right or item.left_of_right:
        return None
    if item.cte is not None and (item.cte.materialized or item.cte.references > 1):
        return None
    if isinstance(query, Block):
        if query.windows:
            partitions = {tuple(part.key() for part in call.window.partition) for call in query.windows}
            if len(partitions) > 1 or () in partitions:
                return None
        return [query]
    if not isinstance(query, Compound) or any(operator != "UNION ALL" for operator in query.operators):
        return None
    arms = []
    for arm in query.arms:
        if not isinstance(arm, Block) or arm.windows:
            return None
        arms.append(arm)
    return arms


def _concerns_only(expression: Expression, source: int) -> bool:
    """Reads columns of ``source`` and constants only."""
    for node in expression.walk():
        if type(node) is Column:
            if node.source != source:
                return False
        elif getattr(node, "subquery", None) is not None or (
                isinstance(node, Call) and not (node.function.deterministic or getattr(node.function, "slow_change", False))):
            return False
    return True


def _over_partition(expression: Expression, source: int, arm: Block) -> bool:
    """Are all columns that the term reads partition expressions of the arm's windows?"""
    parts = {part.key() for part in arm.windows[0].window.partition if (part.collation or "BINARY").upper() == "BINARY"}
    return all(type(node) is not Column or node.source != source or arm.result[node.number].key() in parts for node in expression.walk())


def _inside(expression: Expression, source: int, arm: Block, first: Block) -> Expression:
    """The term over the arm's own expressions, which lose a JSON subtype as the column would and collate as those of the first arm do.

    Comparisons are decided anew: the arms of a compound may give a column different affinities."""

    def change(node: Expression) -> Expression | None:
        if type(node) is Column and node.source == source:
            result = without_subtype(arm.result[node.number])
            wanted = first.result[node.number].collation or BINARY
            return result if (result.collation or BINARY).upper() == wanted.upper() else Collate(result, wanted)
        if first is arm and not any_differs:
            return None
        if type(node) is Compare:
            return compare(node.operator, node.left.replace(change), node.right.replace(change))
        if type(node) is Between:
            operand = node.operand.replace(change)
            new = node.copy()
            new.low = compare(node.low.operator, operand, node.low.right.replace(change))
            new.high = compare(node.high.operator, operand, node.high.right.replace(change))
            return new  # type: ignore[no-any-return]
        if type(node) is InList:
            operand = node.operand.replace(change)
            return InList(operand, tuple([item.replace(change) for item in node.items]), node.negated, simple_affinity(operand.affinity),
                          operand.collation or BINARY)
        return None

    any_differs = any(type(node) is Column and node.source == source
                      and (node.affinity != first.result[node.number].affinity
                           or (node.collation or BINARY).upper() != (first.result[node.number].collation or BINARY).upper())
                      for node in expression.walk())
    return expression.replace(change)


def _is_false(expression: Expression | None) -> bool:
    return isinstance(expression, Literal) and expression.value == 0 and type(expression.value) is int


def _add(arm: Block, expression: Expression) -> None:
    """AND the term to the arm's WHERE or HAVING; beside one that is false for sure nothing else stays."""
    if not arm.is_aggregate:
        if _is_false(expression):
            arm.conditions = [Condition(expression)]
        elif not any(isinstance(one.expression, Literal) and one.expression.value == 0 for one in arm.conditions):
            arm.conditions.append(Condition(expression))
    elif arm.having is None or _is_false(expression):
        arm.having = expression
    elif _is_false(arm.having):
        pass
    elif isinstance(arm.having, And):
        arm.having = And((*arm.having.operands, expression))
    else:
        arm.having = And((arm.having, expression))
