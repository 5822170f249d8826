"""Lowering aggregate queries: GROUP BY, aggregates, bare columns, HAVING; and two short cuts, count(*) of a table and min/max of one column.

Above an Aggregate node the query's expressions change: an aggregate becomes a column of the node; a grouping expression becomes its key column; any other
column is *bare* and keeps its identity.  If a min or max rules the bare columns, grouping columns are bare as well (they come from the same row).

Follows "SELECT", sections on aggregate queries and bare columns, of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import AggregateCall, Call, Column, Expression, IsNull, Literal, OrderTerm, Plain, Subquery, WindowCall
from sqlvec.plan import physical
from sqlvec.plan.logical import Block, ValuesQuery, columns_read, nested_queries, nodes_of, query_expressions, refresh_outer, subqueries_in
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.plan.access.result import JoinPlan, Request
    from sqlvec.plan.logical import Query
    from sqlvec.plan.lower import Lowering
    from sqlvec.schema.objects import Index, Table


class AggregateLowering:
    """The aggregation of one block."""

    def __init__(self, lowering: Lowering, block: Block) -> None:
        self.lowering = lowering
        self.block = block
        self.source = lowering.statement.new_source()
        self.order = block.order_by            # below window passes: the order that the first pass wants
        self.keys = block.group_by or ()
        self.extreme = self._extreme()
        self.shortcut = self._shortcut()
        self.directions_copied = False
        # The query's expressions over the node's output.  Sub-queries in them are changed in place, before they are lowered.
        mapping = self._mapping()
        self.results = tuple([self.rewritten(expression, mapping) for expression in block.result])
        self.result_order = tuple([OrderTerm(self.rewritten(term.expression, mapping), term.descending, term.nulls_last, term.collation)
                                   for term in block.order_by])
        self.having = self.rewritten(block.having, mapping) if block.having is not None else None

    def _extreme(self) -> int | None:
        """The aggregate that rules the bare columns: the last min or max (one with a FILTER leaves the row to those before it where that is false)."""
        found = None
        for number, call in enumerate(self.block.aggregates):
            if call.function.kind in ("min", "max") and call.function.builtin:
                found = number
        return found

    def _shortcut(self) -> str | None:
        """'min' or 'max' if that one aggregate is all there is to compute."""
        block = self.block
        if block.group_by is not None or block.having is not None or len(block.aggregates) != 1 or self.extreme is None or not block.from_items:
            return None
        if block.aggregates[0].condition is not None:
            return None
        return str(block.aggregates[0].function.kind)

    # --- what the loops are asked for -----------------------------------------------------------------------------------------------------

    def ask(self, request: Request) -> None:
        """Put the wanted order into the request."""
        block = self.block
        if block.group_by is not None:
            order = self.order if len(self.order) == len(block.group_by) else ()
            request.mode = "group"
            self.directions_copied = bool(order)
            request.order = self.key_terms()
            request.sort_by_group = bool(order) and all(
                term.expression == key and term.collation == (key.collation or "BINARY") for term, key in zip(order, block.group_by, strict=True))
            if len(block.aggregates) == 1 and block.aggregates[0].distinct:
                request.distinct = (*block.group_by, *block.aggregates[0].arguments)
        elif self.shortcut is not None:
            argument = block.aggregates[0].arguments[0]
            request.mode = self.shortcut
            request.order = (OrderTerm(argument, self.shortcut == "max", None, block.aggregates[0].using),)
        elif len(block.aggregates) == 1 and block.aggregates[0].distinct and block.aggregates[0].condition is None:
            request.distinct = block.aggregates[0].arguments

    def key_terms(self) -> tuple[OrderTerm, ...]:
        """The GROUP BY list as order terms; directions come from an ORDER BY of the same length."""
        order = self.order
        copied = len(order) == len(self.keys)
        terms = []
        for number, key in enumerate(self.keys):
            descending = order[number].descending if copied else False
            nulls_last = order[number].nulls_last if copied else None
            terms.append(OrderTerm(key, descending, nulls_last, key.collation or "BINARY"))
        return tuple(terms)

    # --- the node ---------------------------------------------------------------------------------------------------------------------------

    def lower(self, node: physical.Node, plan: JoinPlan | None) -> tuple[physical.Node, tuple[Expression, ...], tuple[OrderTerm, ...], bool]:
        """The Aggregate above ``node``; also the result list and ORDER BY in terms of its output, and whether groups already come in that order."""
        block = self.block
        results, order, having = self.results, self.result_order, self.having
        bare = self._bare([*results, *(term.expression for term in order), *([having] if having is not None else [])], node)
        terms = self.key_terms()
        mode = "plain"
        if block.group_by is not None:
            mode = "sorted" if plan is not None and plan.ordered < len(terms) else "grouped"
        node = self._cut_short(node, plan, bare)
        aggregates = block.aggregates
        if mode == "sorted" and any(call.function.json_args for call in aggregates):
            aggregates = [call.replace(_sorted_column) for call in aggregates]  # type: ignore[misc]
        columns = [Column(self.source, number, "", key.affinity, key.collation) for number, key in enumerate(self.keys)]
        columns += [Column(self.source, len(self.keys) + number, call.function.name) for number, call in enumerate(block.aggregates)]
        columns += bare
        aggregate = physical.Aggregate(node, mode, self.keys, tuple([key.collation or "BINARY" for key in self.keys]), terms,
                                       tuple(aggregates), tuple(bare), self.extreme if bare else None, self.source, tuple(columns))
        aggregate.for_distinct = block.distinct_as_group
        is_only = len(block.aggregates) == 1 and block.aggregates[0].distinct
        aggregate.distinct_ordered = is_only and plan is not None and plan.distinct != "unordered"
        aggregate.rows = self.lowering.estimate(block, plan.rows if plan is not None else 0)
        above: physical.Node = aggregate
        if having is not None:
            above = physical.Filter(aggregate, having)
            above.rows = aggregate.rows
        return above, results, order, self._is_sorted(mode, plan)

    def _is_sorted(self, mode: str, plan: JoinPlan | None) -> bool:
        """Do the groups leave in the wanted order?"""
        order = self.order
        if not order or mode == "plain":
            return True
        if len(order) != len(self.keys):
            return False
        for term, key in zip(order, self.keys, strict=True):
            if term.expression != key or term.collation != (key.collation or "BINARY"):
                return False
        return mode == "sorted" or plan is None or plan.sorted_by_group

    def _mapping(self) -> dict[Any, Column]:
        """What becomes a column of the node: aggregates, and keys unless a min/max rules."""
        mapping: dict[Any, Column] = {}
        if self.extreme is None:
            for number, key in enumerate(self.keys):
                if type(key) is not Literal and _is_deterministic(key):
                    mapping.setdefault(key.key(), Column(self.source, number, getattr(key, "name", ""), key.affinity, key.collation))
        for number, call in enumerate(self.block.aggregates):
            column = Column(self.source, len(self.keys) + number, call.function.name, None, call.collation)
            column.explicit = call.explicit
            mapping[call.key()] = column
        return mapping

    def rewritten(self, expression: Expression, mapping: dict[Any, Column]) -> Expression:
        """The expression over the Aggregate's output; sub-queries in it are changed in place."""
        kinds = {key[0] for key in mapping}

        def change(node: Expression) -> Expression | None:
            if type(node).__name__ in kinds:
                return mapping.get(node.key())
            if type(node) is WindowCall:
                return resolve("sqlvec.plan.rewrite.substitute:replaced_window_call")(node, change)  # type: ignore[no-any-return]
            return None

        calls = {key: column for key, column in mapping.items() if key[0] == "AggregateCall"}
        if calls:
            for subquery in subqueries_in([expression]):
                _rewrite_inside(subquery, calls)
        return expression.replace(change)

    def _bare(self, expressions: list[Expression], node: physical.Node) -> list[Column]:
        """Columns read above the node that are neither keys nor aggregates: those of the loops below."""
        available = {(column.source, column.number) for column in node.columns}
        read = columns_read(expressions)
        return [read[key] for key in sorted(read) if key in available]

    def _cut_short(self, node: physical.Node, plan: JoinPlan | None, bare: list[Column]) -> physical.Node:
        """min/max over loops in the order of the argument: the first row that counts is enough."""
        if plan is None or not plan.first_only or self.shortcut is None:
            return node
        argument = self.block.aggregates[0].arguments[0]
        if self.shortcut == "min" and not getattr(argument, "not_null", False):
            if bare:
                return node
            node = physical.Filter(node, IsNull(argument, True))
        return physical.Limit(node, Literal(1), None)


def _is_deterministic(expression: Expression) -> bool:
    return all(type(node) is not Call or node.function.deterministic for node in nodes_of(expression))


def _rewrite_inside(subquery: Subquery, calls: dict[Any, Column]) -> None:
    """Replace aggregates of an enclosing query inside a sub-query."""
    if _rewrite_query(subquery.query, calls):
        subquery.outer = tuple(refresh_outer(subquery.query).values())


def _rewrite_query(query: Query, calls: dict[Any, Column]) -> bool:
    """Replace the calls in a query and all queries in it; True if there was one."""
    changed = False

    def change(node: Expression) -> Expression | None:
        nonlocal changed
        if type(node) is AggregateCall:
            column = calls.get(node.key())
            if column is not None:
                changed = True
                return column
        elif type(node) is WindowCall:
            return resolve("sqlvec.plan.rewrite.substitute:replaced_window_call")(node, change)  # type: ignore[no-any-return]
        return None

    for subquery in subqueries_in(query_expressions(query)):
        if _rewrite_query(subquery.query, calls):
            changed = True
    if isinstance(query, Block):
        query.result = tuple([expression.replace(change) for expression in query.result])
        query.order_by = tuple([OrderTerm(term.expression.replace(change), term.descending, term.nulls_last, term.collation)
                                for term in query.order_by])
        if query.group_by is not None:
            query.group_by = tuple([expression.replace(change) for expression in query.group_by])
        if query.having is not None:
            query.having = query.having.replace(change)
        for condition in query.conditions:
            condition.expression = condition.expression.replace(change)
        query.aggregates = [call.replace(_inside(call, change)) for call in query.aggregates]  # type: ignore[misc]
    elif isinstance(query, ValuesQuery):
        query.rows = [tuple([expression.replace(change) for expression in row]) for row in query.rows]
    for nested in nested_queries(query):
        if _rewrite_query(nested, calls):
            changed = True
    return changed


def _inside(call: Expression, change: Any) -> Any:
    """``change`` for what is inside ``call``, not for itself."""
    return lambda node: None if node is call else change(node)


# --- count(*) ----------------------------------------------------------------------------------------------------------------------------------


def count_rows(lowering: Lowering, block: Block) -> tuple[physical.Node, int] | None:
    """``SELECT count(*) FROM t``: counted from the pages of the narrowest tree."""
    if len(block.result) != 1 or len(block.from_items) != 1 or block.conditions or block.group_by is not None or block.having is not None:
        return None
    call = block.result[0]
    item = block.from_items[0]
    table = item.table
    if type(call) is not AggregateCall or table is None or table.kind != "table" or block.distinct or block.windows:
        return None
    if call.function.kind != "count" or not call.function.builtin or not call.star or call.condition is not None or call.distinct:
        return None
    if len(block.aggregates) != 1:
        return None
    source = lowering.statement.new_source()
    column = Column(source, 0, block.names[0])
    index = None if item.not_indexed and not table.without_rowid else _narrowest(table)
    node: physical.Node = physical.CountRows(table, index, item.label, source, (column,))
    return lowering.limited(node, block), 0


def _narrowest(table: Table) -> Index | None:
    """The index with the shortest entries, if shorter than the table's rows."""
    best = table.key_index
    for index in table.indexes:
        if index.is_unordered or index.where is not None or index.row_size >= table.row_size:
            continue
        if best is None or index.row_size < best.row_size:
            best = index
    return best


def _sorted_column(node: Expression) -> Expression | None:
    """A column of a virtual table read back from the sorter, which keeps no JSON subtype."""
    return Plain(node) if isinstance(node, Column) and node.table is not None and node.table.kind == "virtual" else None
