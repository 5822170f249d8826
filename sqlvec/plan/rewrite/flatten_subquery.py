"""Flattening: a FROM sub-query is merged into the query around it.

The sub-query's FROM items take its place, its WHERE terms go before those of the outer query, references to its columns become its result expressions.
Over a UNION ALL the outer query is repeated for each arm.

In a block with window functions it is the innermost query, below the window passes, that is merged with.

What forbids it is listed in :func:`flatten` and :func:`_may_flatten_compound`; numbers are those of the manual's list of conditions where it has them.

Follows "Subquery Flattening" in "The SQLite Query Optimizer Overview" of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import Case, Collate, Column, Expression, IsNull, OrderTerm, sources_of
from sqlvec.plan.logical import Block, Compound, FromItem, Query, block_expressions, columns_read
from sqlvec.plan.rewrite.substitute import Copying, copied_subqueries, replace_deep, replace_in_query, without_subtype

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.plan.scope import Binding


def flatten(block: Block, item: FromItem, binding: Binding, is_recursive: bool, is_arm: bool) -> Query | None:
    """Merge the sub-query of ``item`` into ``block``: the block itself, a Compound that replaces it, or None if it can't be done."""
    query = item.query
    if query is None or query.offset is not None:
        return None
    if item.cte is not None and (item.cte.materialized or (item.cte.materialized is None and item.cte.references > 1)):
        return None
    if query.limit is not None and (len(block.from_items) > 1 or block.is_aggregate or block.conditions):
        return None
    if block.windows:
        last = block.windows[-1].window
        if query.order_by and (last.partition or last.order or block.window_order or block.is_aggregate):
            return None
    elif (query.limit is not None and (block.limit is not None or block.distinct or is_arm)) or (
            query.order_by and (block.order_by or block.is_aggregate)):
        return None
    if isinstance(query, Block):
        return _flatten_block(block, item, query, binding)
    if isinstance(query, Compound) and _may_flatten_compound(block, item, query, is_recursive):
        return _flatten_compound(block, item, query, binding)
    return None


def _flatten_block(block: Block, item: FromItem, query: Block, binding: Binding) -> Query | None:
    if not query.from_items or query.distinct or query.is_aggregate or query.windows:
        return None
    if item.left or item.right or item.left_of_right:
        first = query.from_items[0]
        if len(query.from_items) > 1 or (block.distinct and not block.windows) or item.right or (first.table is not None and first.table.kind == "virtual"):
            return None
        if item.left and first.table is None and not all(type(result) is Column for result in query.result):
            return None                         # no way to tell a null row of the inner sub-query
    if block.from_items[0] is not item and query.from_items[0].left_of_right:
        return None
    _merge(block, item, query, binding)
    return block


def _merge(block: Block, item: FromItem, query: Block, binding: Binding) -> None:
    """Put the sub-query's parts into the block."""
    position = block.from_items.index(item)
    first = query.from_items[0]
    is_outer = item.left
    first.left, first.right, first.cross = item.left or first.left, item.right or first.right, item.cross or first.cross
    for inner in query.from_items:
        inner.left_of_right = inner.left_of_right or item.left_of_right
    results = query.result
    if item.left or item.left_of_right:
        results = tuple([_nullable(result, first, is_outer) for result in results])
    source = item.source

    def change(node: Expression) -> Expression | None:
        if type(node) is Column and node.source == source:
            return _as_column(results[node.number], node)
        return None

    if any(getattr(node, "subquery", None) is not None for result in results for node in result.walk()):
        for condition in block.conditions:      # each use of a sub-query is one of its own
            condition.expression = replace_deep(condition.expression, lambda node: copied_subqueries(change(node), binding))
        if not (block.is_aggregate or block.windows or block.order_by):
            block.result = tuple([replace_deep(result, lambda node: copied_subqueries(change(node), binding)) for result in block.result])
    replace_in_query(block, change)
    for condition in query.conditions:
        if is_outer:
            condition.outer_on, condition.inner_on = first.source, None
        elif item.left_of_right:                # must hold before a later RIGHT JOIN adds its null rows
            condition.inner_on = first.source
            if first.table is not None and not sources_of(condition.expression):
                # Of no column, it would be checked before all loops and keep the null rows away as well.
                condition.expression = Case(None, (_present(first),), (condition.expression,), None)
    for condition in block.conditions:
        if condition.outer_on == source:
            condition.outer_on = first.source
        if condition.inner_on == source:
            condition.inner_on = first.source
    block.from_items[position:position + 1] = query.from_items
    block.conditions[:0] = query.conditions
    if block.windows:
        block.window_order = query.order_by or block.window_order
        block.window_limit = query.limit or block.window_limit
    else:
        block.order_by = query.order_by or block.order_by
        if query.limit is not None:
            block.limit, block.offset = query.limit, query.offset
    read = columns_read(block_expressions(block))
    for inner in query.from_items:
        inner.resolved = {number for source, number in read if source == inner.source}


def _as_column(result: Expression, node: Column) -> Expression:
    """The result expression as what the column was: affinity and collation are those that comparisons have been bound with, a JSON subtype is lost."""
    result = without_subtype(result)
    if type(result) is Column or (result.affinity == node.affinity and (result.collation or "BINARY") == (node.collation or "BINARY")):
        return result
    new = result.copy()
    new.affinity, new.collation = node.affinity, node.collation
    return new  # type: ignore[no-any-return]


def _nullable(result: Expression, first: FromItem, is_outer: bool) -> Expression:
    """The result expression where its row may be the null row of an outer join: columns lose NOT NULL, anything else becomes NULL with the row."""

    def change(node: Expression) -> Expression | None:
        if type(node) is Column and node.not_null and node.source == first.source:
            new = node.copy()
            new.not_null = False
            return new  # type: ignore[no-any-return]
        return None

    changed = result.replace(change)
    if type(result) is Column or first.table is None:
        return changed
    case = Case(None, (_present(first),), (changed,), None)
    case.affinity, case.collation, case.explicit = result.affinity, result.collation, result.explicit
    return case


def _present(item: FromItem) -> Expression:
    """True on rows of a table, false on the null row of an outer join."""
    table = item.table
    assert table is not None
    key = table.primary_key[0] if table.without_rowid else -1
    return IsNull(Column(item.source, key, "", None, None, False, table), True)


# --- UNION ALL ------------------------------------------------------------------------------------------------------------------------


def _may_flatten_compound(block: Block, item: FromItem, query: Compound, is_recursive: bool) -> bool:
    if query.order_by or block.is_aggregate or block.distinct or block.windows or item.left or item.right or item.left_of_right or is_recursive:
        return False
    if any(operator != "UNION ALL" for operator in query.operators):
        return False
    results = {result.key() for result in block.result}
    if any(term.expression.key() not in results for term in block.order_by):
        return False
    for arm in query.arms:
        if not isinstance(arm, Block) or arm.is_aggregate or arm.distinct or arm.windows or not arm.from_items:
            return False
        if block.from_items[0] is not item and arm.from_items[0].left_of_right:
            return False
    first = [_affinity(result) for result in query.arms[0].results()]
    return all([_affinity(result) for result in arm.results()] == first for arm in query.arms[1:])


def _affinity(result: Expression) -> str:
    """What must be equal in all arms: the affinity, where a column of a sub-query that has none is a kind of its own."""
    while isinstance(result, Collate):
        result = result.operand
    return result.affinity or ("column" if type(result) is Column else "")


def _flatten_compound(block: Block, item: FromItem, query: Compound, binding: Binding) -> Query:
    position = block.from_items.index(item)
    order, limit, offset = block.order_by, block.limit, block.offset
    block.order_by, block.limit, block.offset = (), None, None
    if query.limit is not None:
        limit, offset = query.limit, query.offset
    places = []
    for term in order:
        key = term.expression.key()
        places.append(next(number for number, result in enumerate(block.result) if result.key() == key))
    outers = [block]
    placeholder, item.query = item.query, None
    for _ in query.arms[1:]:
        outers.append(Copying(binding).query(block))
    item.query = placeholder
    arms: list[Query] = []
    for outer, arm in zip(outers, query.arms, strict=True):
        assert isinstance(arm, Block)
        target = outer.from_items[position]
        target.query = arm
        _merge(outer, target, arm, binding)
        arms.append(outer)
    made = Compound(block.number, arms, ["UNION ALL"] * (len(arms) - 1))
    made.names = block.names
    made.output_source = binding.statement.new_source()
    results = [arm.results() for arm in arms]
    made.collations = tuple([next((one[number].collation for one in results if one[number].collation), None) or "BINARY"
                             for number in range(len(block.result))])
    made.order_by = tuple([OrderTerm(Column(made.output_source, place, block.names[place] if place < len(block.names) else "",
                                            block.result[place].affinity, made.collations[place]),
                                     term.descending, term.nulls_last, term.collation)
                           for place, term in zip(places, order, strict=True)])
    made.limit, made.offset = limit, offset
    return made
