"""What expressions and queries read: columns, sub-queries, and the columns that a nested query takes from outside.

The binder notes outer columns while it resolves names; rewriting moves expressions between queries, so ``refresh_outer`` works them out anew.
"""
from __future__ import annotations

from sqlvec.expr.bound import Column, Expression, Subquery, WindowCall
from sqlvec.plan.logical import Block, Compound, Query, RecursiveQuery, ValuesQuery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Key = tuple[int, int]


def window_parts(call: WindowCall) -> Iterator[Expression]:
    """The expressions of a call's window definition (they are not its children)."""
    window = call.window
    yield from window.partition
    for term in window.order:
        yield term.expression
    for limit in (window.frame.start[1], window.frame.end[1]):
        if limit is not None:
            yield limit


def nodes_of(expression: Expression) -> Iterator[Expression]:
    """All nodes of an expression, window definitions included; shared ones (the operand of BETWEEN) once."""
    stack = [expression]
    seen = set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if type(node) is WindowCall:
            stack.extend(window_parts(node))
        stack.extend(node.children())


def columns_read(expressions: Iterable[Expression]) -> dict[Key, Column]:
    """All columns that expressions read, outer columns of their sub-queries included."""
    found: dict[Key, Column] = {}
    for expression in expressions:
        for node in nodes_of(expression):
            if type(node) is Column:
                found.setdefault((node.source, node.number), node)
            else:
                subquery = getattr(node, "subquery", None)
                if subquery is not None:
                    for column in subquery.outer:
                        found.setdefault((column.source, column.number), column)
    return found


def subqueries_in(expressions: Iterable[Expression]) -> list[Subquery]:
    """The sub-queries directly inside expressions, each once."""
    found: dict[int, Subquery] = {}
    for expression in expressions:
        for node in nodes_of(expression):
            subquery = getattr(node, "subquery", None)
            if subquery is not None:
                found.setdefault(id(subquery), subquery)
    return list(found.values())


def output_expressions(block: Block) -> list[Expression]:
    """What a block evaluates above its loops."""
    found = list(block.result)
    found.extend(term.expression for term in block.order_by)
    found.extend(block.group_by or ())
    if block.having is not None:
        found.append(block.having)
    found.extend(block.aggregates)          # some may be written in sub-queries only
    return found


def block_expressions(block: Block) -> list[Expression]:
    """All expressions of a block."""
    found = output_expressions(block)
    found.extend(condition.expression for condition in block.conditions)
    for item in block.from_items:
        found.extend(item.arguments or ())
    found.extend(limit for limit in (block.limit, block.offset, block.window_limit) if limit is not None)
    found.extend(term.expression for term in block.window_order)
    return found


def query_expressions(query: Query) -> list[Expression]:
    """All expressions that a query holds itself (not those of its arms)."""
    if isinstance(query, Block):
        return block_expressions(query)
    found: list[Expression] = [limit for limit in (query.limit, query.offset) if limit is not None]
    if isinstance(query, ValuesQuery):
        for row in query.rows:
            found.extend(row)
    return found


def nested_queries(query: Query) -> list[Query]:
    """Arms and FROM sub-queries."""
    if isinstance(query, Block):
        return [item.query for item in query.from_items if item.query is not None]
    if isinstance(query, Compound):
        return list(query.arms)
    if isinstance(query, RecursiveQuery):
        return [query.setup, *query.steps]
    return []


def refresh_outer(query: Query) -> dict[Key, Column]:
    """Work out again what ``query`` and all queries in it read from outside; set ``Subquery.outer`` and ``FromItem.is_correlated``."""
    read: dict[Key, Column] = {}
    own: set[int] = set()
    expressions = query_expressions(query)
    for subquery in subqueries_in(expressions):
        subquery.outer = tuple(refresh_outer(subquery.query).values())
    read.update(columns_read(expressions))
    if isinstance(query, Block):
        own.update(item.source for item in query.from_items)
        for item in query.from_items:
            if item.query is not None:
                outer = refresh_outer(item.query)
                item.is_correlated = bool(outer)
                read.update(outer)
    else:
        own.add(query.output_source)
        for nested in nested_queries(query):
            read.update(refresh_outer(nested))
    return {key: column for key, column in read.items() if key[0] not in own}


def mark_used(block: Block) -> None:
    """Set ``FromItem.used`` of each item to the columns that the block reads."""
    used: dict[int, set[int]] = {item.source: set() for item in block.from_items}
    read = columns_read(block_expressions(block))
    for item in block.from_items:
        if item.query is not None and item.is_correlated:
            read.update(refresh_outer(item.query))
    for source, number in read:
        if source in used:
            used[source].add(number)
    for item in block.from_items:
        if item.resolved is None:
            item.resolved = item.used
        item.used = used[item.source]
