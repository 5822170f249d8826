"""Lowering: logical queries become the physical plan.

A block is lowered from the inside out::

    FROM sub-queries -> loops chosen (plan/access) -> Join
        -> Aggregate, Filter (HAVING)           lower_aggregate
        -> WindowPass ...                       lower_window
        -> Project -> Distinct -> Sort -> Project (hidden sort columns dropped) -> Limit

Result expressions are evaluated once, before a Sort, in the order of the loops; ORDER BY terms that are not result columns travel as hidden columns.
A sub-query in an expression is lowered after the loops around it are known, since their row count matters to its own plan.

Invariants
1. ``Node.columns`` names what a row holds; Project and Aggregate may hand columns on under their own identity, so that correlated sub-queries above
   still find them.
2. The node of a FROM sub-query delivers exactly the query's result columns, in order.
3. A query object is lowered once: CTEs share it, and its plan, between their uses.

Follows "Query Planning" and "SELECT" of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import And, Column, OrderTerm
from sqlvec.plan import physical
from sqlvec.plan.logical import (
    Block,
    Compound,
    RecursiveQuery,
    ValuesQuery,
    block_expressions,
    columns_read,
    mark_used,
    output_expressions,
    refresh_outer,
    subqueries_in,
)
from sqlvec.plan.scope import Scope
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from sqlvec.expr.bound import Expression
    from sqlvec.plan.access.result import JoinPlan, QueryPlan, Request
    from sqlvec.plan.logical import FromItem, Query
    from sqlvec.plan.scope import Binding

SELECT_ROWS = 320
UNKNOWN_ROWS = 200
RULES = "sqlvec.plan.rewrite.rules:rewrite_query"
# The access planner is loaded by the first statement that has a FROM clause.
CHOOSE = "sqlvec.plan.access.choose:choose"
RUNS_AS_COROUTINE = "sqlvec.plan.access.choose:runs_as_coroutine"
LITERAL_LIMIT = "sqlvec.plan.access.cost:literal_limit"
REQUEST = "sqlvec.plan.access.result:Request"
QUERY_PLAN = "sqlvec.plan.access.result:QueryPlan"


class Lowering:
    """The lowering of one statement."""

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self.statement = binding.statement
        self.plans: dict[int, tuple[physical.Node, int, int]] = {}       # shared queries by id: node, rows, slot
        self.queues: dict[int, int] = {}                                 # recursive queries by id: slot
        self.kept: list[Any] = []                                        # objects whose ids are keys above
        self.scan: tuple[Any, str] = (None, "")                          # the block that finds rows to change, 'UPDATE' or 'DELETE'

    # --- queries ----------------------------------------------------------------------------------------------------------------------

    def lower_statement(self, query: Query) -> physical.Node:
        """Rewrite and lower the query of a whole statement."""
        return self.lower(self.rewrite(query), 0)[0]

    def rewrite(self, query: Query) -> Query:
        """Apply the rewrite rules where the query has something to rewrite; the result takes its place."""
        if _is_plain(query) and not self.binding.subqueries:
            return query
        query = resolve(RULES)(query, self.binding)
        if self.binding.subqueries or not isinstance(query, Block):
            refresh_outer(query)
        return query

    def lower(self, query: Query, outer_rows: int) -> tuple[physical.Node, int]:
        """The node and row estimate (LogEst) of a query inside loops of ``outer_rows``."""
        if isinstance(query, Block):
            return self.lower_block(query, outer_rows)
        if isinstance(query, ValuesQuery):
            return self.lower_values(query, outer_rows)
        if isinstance(query, Compound):
            return resolve("sqlvec.plan.lower_compound:lower_compound")(self, query, outer_rows)  # type: ignore[no-any-return]
        assert isinstance(query, RecursiveQuery)
        return resolve("sqlvec.plan.lower_compound:lower_recursive")(self, query, outer_rows)  # type: ignore[no-any-return]

    def lower_values(self, query: ValuesQuery, outer_rows: int) -> tuple[physical.Node, int]:
        rows = [tuple(row) for row in query.rows]
        self.lower_subqueries([expression for row in rows for expression in row], outer_rows)
        source = self.statement.new_source()
        node: physical.Node = physical.Values(tuple(rows), source, self.output_columns(source, query.rows[0], query.names))
        node.number = query.number  # type: ignore[attr-defined]
        node = self.limited(node, query)
        return node, min(SELECT_ROWS, 0 if len(rows) == 1 else len(rows))

    def limited(self, node: physical.Node, query: Query) -> physical.Node:
        """The node under the query's LIMIT, if it has one."""
        if query.limit is None:
            return node
        self.lower_subqueries([limit for limit in (query.limit, query.offset) if limit is not None], 0)
        limit = physical.Limit(node, query.limit, query.offset)
        limit.rows = node.rows
        return limit

    def output_columns(self, source: int, expressions: Iterable[Expression], names: tuple[str, ...] = ()) -> tuple[Column, ...]:
        """Columns of a node that computes ``expressions``."""
        found = []
        for number, expression in enumerate(expressions):
            name = names[number] if number < len(names) else ""
            found.append(Column(source, number, name, expression.affinity, expression.collation))
        return tuple(found)

    def lower_subqueries(self, expressions: Iterable[Expression], outer_rows: int) -> None:
        """Give every sub-query inside expressions its plan."""
        for subquery in subqueries_in(expressions):
            if subquery.plan is None:
                subquery.plan = self.lower(subquery.query, outer_rows)[0]

    # --- blocks -----------------------------------------------------------------------------------------------------------------------------

    def lower_block(self, block: Block, outer_rows: int) -> tuple[physical.Node, int]:
        """A SELECT core."""
        if block.is_aggregate:
            counted = resolve("sqlvec.plan.lower_aggregate:count_rows")(self, block)
            if counted is not None:
                return counted  # type: ignore[no-any-return]
        if not block.from_items:
            return self._without_from(block, outer_rows)
        windows = resolve("sqlvec.plan.lower_window:WindowLowering")(self, block) if block.windows else None
        aggregate = resolve("sqlvec.plan.lower_aggregate:AggregateLowering")(self, block) if block.is_aggregate else None
        if aggregate is not None and windows is not None:
            aggregate.order = windows.innermost_order()
        mark_used(block)
        request = self.request(block, outer_rows)
        if aggregate is not None:
            aggregate.ask(request)
        elif windows is not None:
            request.order = windows.innermost_order()
        else:
            request.order = block.order_by
            if block.distinct:
                request.distinct = block.result
        plan = resolve(CHOOSE)(block, request)
        needed = output_expressions(block)
        node: physical.Node = self.join(block, plan, needed)
        if plan.constants:
            self.lower_subqueries(plan.constants, outer_rows)
        self.lower_subqueries(block_expressions(block), plan.inner_rows)
        rows = self.estimate(block, plan.rows)
        results: tuple[Expression, ...] = block.result
        order = block.order_by
        presorted = max(plan.ordered, 0)
        is_sorted = presorted >= len(order)
        if aggregate is not None:
            node, results, order, is_sorted = aggregate.lower(node, plan)
            presorted = len(aggregate.order) if is_sorted else 0
        if windows is not None:
            node, results, order, is_sorted = windows.lower(node, results, order, presorted)
            presorted = len(order) if is_sorted else 0
            rows -= 30 * len(windows.passes)        # each pass is a scan of a co-routine to SQLite
        node.rows = plan.rows
        distinct = "" if not block.distinct else (plan.distinct if aggregate is None and windows is None else "unordered")
        return self.output(block, node, results, order, presorted, distinct, rows), rows

    def _without_from(self, block: Block, outer_rows: int) -> tuple[physical.Node, int]:
        """A SELECT without FROM: one row, if its conditions hold."""
        node: physical.Node = physical.SingleRow(())
        self.lower_subqueries(block_expressions(block), outer_rows)
        conditions = [condition.expression for condition in block.conditions]
        if conditions:
            node = physical.Filter(node, conditions[0] if len(conditions) == 1 else And(tuple(conditions)))
        results, order = block.result, block.order_by
        is_sorted = True
        if block.is_aggregate:
            aggregate = resolve("sqlvec.plan.lower_aggregate:AggregateLowering")(self, block)
            node, results, order, is_sorted = aggregate.lower(node, None)
        if block.windows:
            windows = resolve("sqlvec.plan.lower_window:WindowLowering")(self, block)
            node, results, order, is_sorted = windows.lower(node, results, order, 0)
        return self.output(block, node, results, order, len(order) if is_sorted else 0, "unique", 0), 0

    def request(self, block: Block, outer_rows: int) -> Request:
        """What the loops are asked for, without an order yet."""
        settings = self.binding.context.settings
        request = resolve(REQUEST)(outer_rows=outer_rows)
        if self.scan[0] is block:
            request.kind = self.scan[1]
        request.automatic_index = settings.automatic_index
        request.case_sensitive_like = settings.case_sensitive_like
        request.reverse_unordered = settings.reverse_unordered_selects
        request.bind = self.bind_index_expression
        request.virtual_table = self.virtual_table
        for item in block.from_items:
            if item.query is not None:
                same = next((other for other in block.from_items if other is not item and other.source in request.query_plans
                             and (other.view is item.view is not None or other.cte is item.cte is not None)
                             and not item.is_narrowed and not other.is_narrowed), None)
                if same is not None and not resolve(RUNS_AS_COROUTINE)(block, block.from_items.index(same)):
                    shared = request.query_plans[same.source]
                    rows = shared.rows if item.cte is None else UNKNOWN_ROWS
                    request.query_plans[item.source] = resolve(QUERY_PLAN)(shared.node, rows, shared.slot, shared.outer)
                    continue
                request.query_plans[item.source] = self.query_plan(item, outer_rows)
            elif item.recursive is not None:
                request.query_plans[item.source] = resolve(QUERY_PLAN)(physical.SingleRow(()), 200, self.queues[id(item.recursive)])
        return request

    def query_plan(self, item: FromItem, outer_rows: int) -> QueryPlan:
        """The plan of a FROM sub-query; uses of one CTE share it."""
        query = item.query
        assert query is not None
        known = self.plans.get(id(query))
        if known is None:
            outer = tuple(refresh_outer(query).values()) if item.is_correlated else ()
            node, rows = self.lower(query, outer_rows)
            known = self.plans[id(query)] = (node, rows, self.statement.new_slot())
            self.kept.append(query)
        else:
            outer = ()
            known = (known[0], UNKNOWN_ROWS, known[2])      # the real one knows the size at the first use only
        node, rows, slot = known
        return resolve(QUERY_PLAN)(node, rows, slot, outer)

    def virtual_table(self, item: FromItem) -> Any:
        """The connected module instance of an item."""
        assert item.table is not None
        return self.binding.context.connect_vtab(item.table.database, item.table.name)

    def bind_index_expression(self, item: FromItem, node: Any) -> Expression:
        """Bind an expression of an index definition to the item's table."""
        assert item.table is not None
        scope = Scope(self.binding, restriction="partial index WHERE clauses")      # it restricts least
        scope.add_table(item.table, item.source)
        saved = self.binding.is_derived
        self.binding.is_derived = True
        try:
            return resolve("sqlvec.plan.expressions:bind_expression")(node, scope)  # type: ignore[no-any-return]
        finally:
            self.binding.is_derived = saved

    def join(self, block: Block, plan: JoinPlan, above: list[Expression]) -> physical.Join:
        """The Join node, with the columns that expressions above the loops read."""
        sources = {level.path.source for level in plan.levels}
        read = columns_read(above)
        columns = tuple([read[key] for key in sorted(read) if key[0] in sources])
        node = physical.Join(plan.levels, columns, plan.constants)
        node.unused = plan.unused
        node.rows = plan.rows
        return node

    def estimate(self, block: Block, rows: int) -> int:
        """The row estimate of a block's result."""
        limit = resolve(LITERAL_LIMIT)(block.limit or block.limit_hint)
        most = SELECT_ROWS if limit is None else min(SELECT_ROWS, limit)
        if block.group_by is not None:
            return min(most, 66)
        return 0 if block.is_aggregate else min(most, rows)

    # --- the upper part of a block --------------------------------------------------------------------------------------------------------------

    def output(self, block: Block, node: physical.Node, results: tuple[Expression, ...], order: tuple[OrderTerm, ...], presorted: int,
               distinct: str, rows: int) -> physical.Node:
        """Project, Distinct, Sort and Limit above ``node``.  ``distinct``: '' (not wanted), 'unique', 'ordered' or 'unordered'."""
        needs_sort = presorted < len(order) and bool(order)
        source = self.statement.new_source()
        expressions = list(results)
        terms: list[OrderTerm] = []
        if needs_sort:
            places = {expression.key(): number for number, expression in reversed(tuple(enumerate(results)))}
            for term in order:
                key = term.expression.key()
                if key not in places:
                    places[key] = len(expressions)
                    expressions.append(term.expression)
                column = Column(source, places[key], "", term.expression.affinity, term.expression.collation)
                terms.append(OrderTerm(column, term.descending, term.nulls_last, term.collation))
        columns = self.output_columns(source, expressions, block.names)
        node = physical.Project(node, tuple(expressions), source, columns)
        node.rows = rows
        if distinct in ("unordered", "ordered"):
            collations = tuple([result.collation or "BINARY" for result in results])
            for collation in collations:
                self.binding.need_collation(collation)
            node = physical.Distinct(node, len(results), collations, distinct == "ordered")
            node.rows = rows
        if needs_sort:
            node = physical.Sort(node, tuple(terms), presorted, block.limit, block.offset)
            node.rows = rows
            if len(expressions) > len(results):
                final = self.statement.new_source()
                node = physical.Project(node, columns[: len(results)], final, self.output_columns(final, results, block.names))
                node.rows = rows
        return self.limited(node, block)


def _is_plain(query: Query) -> bool:
    """Is there nothing that a rewrite rule could change?"""
    return (isinstance(query, Block) and len(query.from_items) <= 1 and all(item.query is None for item in query.from_items)
            and not (query.is_aggregate and (query.group_by is not None or query.having is not None)) and not query.distinct
            and not query.windows and len(query.conditions) < 2)
