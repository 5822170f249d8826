"""From chosen loops to ``physical.Level``: where each condition is checked, and what an access path looks like.

A condition is checked at the outermost level where all sources it reads are known.  At one level the order is that of SQLite: conditions
computable from the index alone, then those without correlated sub-queries, then the rest, each group in WHERE order.

Outer joins
    Terms of the ON clause of an outer join decide matching only and are checked at the level of its right table, before the "found a match"
    mark is set (``Level.match``).  Everything else at that level is checked afterwards, null-extended rows included (``Level.conditions``).
    With a RIGHT or FULL join, WHERE terms wait until the last such join has been done, since unmatched right rows must meet them too;
    ON terms of inner joins stay at their own level.

Follows "Query Planning" and "SELECT" (joins) of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import Column, InSubquery
from sqlvec.plan import physical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlvec.expr.bound import Expression
    from sqlvec.plan.logical import FromItem


def join_kind(item: FromItem) -> str:
    """The physical kind of the join that ``item`` is the right operand of."""
    if item.left:
        return "full" if item.right else "left"
    return "right" if item.right else "inner"


def has_correlated_subquery(expression: Expression) -> bool:
    """Does the expression contain a sub-query that reads columns of enclosing queries?  A plain IN is no expression with a sub-query in this sense."""
    nodes = expression.walk()
    if isinstance(expression, InSubquery) and not expression.negated:
        next(nodes)
    for node in nodes:
        subquery = getattr(node, "subquery", None)
        if subquery is not None and subquery.outer:
            return True
    return False


class Placed:
    """A condition that remains to be checked: ``needs`` is the bit set of FROM positions that it reads."""

    __slots__ = ("expression", "inner_on", "needs", "outer_on")

    def __init__(self, expression: Expression, needs: int, outer_on: int | None, inner_on: int | None) -> None:
        self.expression = expression
        self.needs = needs
        self.outer_on = outer_on
        self.inner_on = inner_on


def place_conditions(items: list[FromItem], order: list[int], paths: list[physical.Path], remaining: list[Placed],
                     index_only: Callable[[physical.Path, Expression], bool]) -> tuple[physical.Level, ...]:
    """Levels for the FROM positions ``order``, with the ``remaining`` conditions at their places."""
    depth_of_bit = {1 << position: depth for depth, position in enumerate(order)}
    depth_of_source = {items[position].source: depth for depth, position in enumerate(order)}
    last_right = max((depth for depth, position in enumerate(order) if items[position].right), default=-1)
    buckets: list[tuple[list[Expression], list[Expression]]] = [([], []) for _ in order]
    for term in remaining:
        depth = 0
        for bit, at in depth_of_bit.items():
            if term.needs & bit and at > depth:
                depth = at
        if term.outer_on is not None:
            buckets[max(depth, depth_of_source.get(term.outer_on, 0))][0].append(term.expression)
            continue
        if term.inner_on is not None and last_right >= 0:
            depth = max(depth, depth_of_source.get(term.inner_on, 0))
        elif depth < last_right:
            depth = last_right
        buckets[depth][1].append(term.expression)
    levels = []
    for depth, position in enumerate(order):
        item, path = items[position], paths[depth]
        kind = join_kind(item)
        match, conditions = buckets[depth]
        if kind == "inner":
            match, conditions = [], match + conditions
        levels.append(physical.Level(path, kind, _in_order(match, path, index_only), _in_order(conditions, path, index_only)))
    return tuple(levels)


def _in_order(conditions: list[Expression], path: physical.Path, index_only: Callable[[physical.Path, Expression], bool]) -> tuple[Expression, ...]:
    if len(conditions) < 2:
        return tuple(conditions)
    ranked = sorted((0 if index_only(path, condition) else 2 if has_correlated_subquery(condition) else 1, number)
                    for number, condition in enumerate(conditions))
    return tuple(conditions[number] for _, number in ranked)


def reads_index_only(path: physical.Path, expression: Expression) -> bool:
    """Can the condition be computed from the index of a non-covering search, without reading the table row?"""
    if not isinstance(path, physical.IndexSearch) or path.covering or path.index.is_table_tree:
        return False
    columns = {column.column for column in path.index.columns}
    for node in expression.walk():
        if isinstance(node, Column):
            if node.source == path.source and node.number not in columns:
                return False
        elif getattr(node, "subquery", None) is not None:
            return False
    return True
