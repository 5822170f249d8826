"""Replacing and copying whole queries: expressions at any depth, sub-queries in expressions and FROM included.

``replace_in_query`` works in place; ``copy_query`` makes an independent copy with sources and slots of its own, as invariant "a source number is unique in the
statement" asks.
"""
from __future__ import annotations

from sqlvec.expr.bound import Call, Collate, Column, Expression, OrderTerm, Plain, Subquery, Window, WindowCall
from sqlvec.expr.bound import Frame as WindowFrame
from sqlvec.expr.emit import may_be_json
from sqlvec.plan.logical import Block, Compound, Condition, FromItem, Query, RecursiveQuery, ValuesQuery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlvec.plan.scope import Binding

    Change = Callable[[Expression], Expression | None]


def replace_in_query(query: Query, change: Change) -> None:
    """Apply ``change`` to every expression of a query, in place, sub-queries included."""
    seen: set[int] = set()
    _replace_query(query, _deep(change, seen), seen)


def replace_deep(expression: Expression, change: Change) -> Expression:
    """The expression with ``change`` applied, also (in place) to the sub-queries in it."""
    return expression.replace(_deep(change, set()))


def _deep(change: Change, seen: set[int]) -> Change:
    def apply(node: Expression) -> Expression | None:
        new = change(node)
        if new is not None:
            return new
        subquery = getattr(node, "subquery", None)
        if subquery is not None:
            _replace_query(subquery.query, apply, seen)
        if type(node) is WindowCall:
            return replaced_window_call(node, apply)
        return None

    return apply


def replaced_window_call(node: WindowCall, apply: Change) -> Expression:
    """The call with ``apply`` tried on its arguments and on its window definition."""
    copy: WindowCall = node.copy()
    copy.arguments = tuple([argument.replace(apply) for argument in node.arguments])
    copy.condition = node.condition.replace(apply) if node.condition is not None else None
    window = node.window
    frame = WindowFrame(window.frame.unit, _limit(window.frame.start, apply), _limit(window.frame.end, apply), window.frame.exclude)
    copy.window = Window(tuple([part.replace(apply) for part in window.partition]), tuple([replaced_term(term, apply) for term in window.order]), frame)
    return copy


def _limit(limit: tuple[str, Expression | None], apply: Change) -> tuple[str, Expression | None]:
    return limit[0], limit[1].replace(apply) if limit[1] is not None else None


def replaced_term(term: OrderTerm, apply: Change) -> OrderTerm:
    """The order term over the replaced expression."""
    return OrderTerm(term.expression.replace(apply), term.descending, term.nulls_last, term.collation)


def _replace_query(query: Query, apply: Change, seen: set[int]) -> None:
    if id(query) in seen:
        return
    seen.add(id(query))
    query.order_by = tuple([replaced_term(term, apply) for term in query.order_by])
    if query.limit is not None:
        query.limit = query.limit.replace(apply)
    if query.offset is not None:
        query.offset = query.offset.replace(apply)
    if isinstance(query, Block):
        _replace_block(query, apply, seen)
    elif isinstance(query, ValuesQuery):
        query.rows = [tuple([value.replace(apply) for value in row]) for row in query.rows]
    elif isinstance(query, Compound):
        for arm in query.arms:
            _replace_query(arm, apply, seen)
    elif isinstance(query, RecursiveQuery):
        for part in (query.setup, *query.steps):
            _replace_query(part, apply, seen)


def _replace_block(block: Block, apply: Change, seen: set[int]) -> None:
    block.result = tuple([expression.replace(apply) for expression in block.result])
    for condition in block.conditions:
        condition.expression = condition.expression.replace(apply)
    if block.group_by is not None:
        block.group_by = tuple([expression.replace(apply) for expression in block.group_by])
    if block.having is not None:
        block.having = block.having.replace(apply)
    block.aggregates = [call.replace(apply) for call in block.aggregates]  # type: ignore[misc]
    block.windows = [call.replace(apply) for call in block.windows]  # type: ignore[misc]
    block.window_order = tuple([replaced_term(term, apply) for term in block.window_order])
    for item in block.from_items:
        if item.arguments is not None:
            item.arguments = tuple([argument.replace(apply) for argument in item.arguments])
        if item.query is not None:
            _replace_query(item.query, apply, seen)


def without_subtype(result: Expression) -> Expression:
    """A sub-query's result expression in place of its column: a function call loses its JSON subtype there, CASE and unary plus over one keep it."""
    inner = result
    while isinstance(inner, Collate):
        inner = inner.operand
    return Plain(result) if isinstance(inner, Call) and may_be_json(result) else result


# --- copies ---------------------------------------------------------------------------------------------------------------------------


class Copying:
    """One deep copy: ``sources`` maps old source numbers to new ones."""

    __slots__ = ("binding", "queries", "sources", "subqueries")

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self.sources: dict[int, int] = {}
        self.queries: dict[int, Any] = {}
        self.subqueries: dict[int, Subquery] = {}

    def query(self, query: Query) -> Any:
        known = self.queries.get(id(query))
        if known is not None:
            return known
        new: Any = object.__new__(type(query))
        self.queries[id(query)] = new
        for cls in type(query).__mro__:
            for name in getattr(cls, "__slots__", ()):
                setattr(new, name, getattr(query, name))
        if query.output_source >= 0:
            new.output_source = self._new_source(query.output_source)
        if isinstance(query, Block):
            new.from_items = [self._item(item) for item in query.from_items]
            new.conditions = [Condition(self.expression(one.expression), self._source(one.outer_on), self._source(one.inner_on), one.is_using)
                              for one in query.conditions]
            new.result = tuple([self.expression(one) for one in query.result])
            new.group_by = None if query.group_by is None else tuple([self.expression(one) for one in query.group_by])
            new.having = None if query.having is None else self.expression(query.having)
            new.aggregates = [self.expression(one) for one in query.aggregates]
            new.windows = [self.expression(one) for one in query.windows]
            new.window_order = tuple([replaced_term(term, self._change) for term in query.window_order])
        elif isinstance(query, Compound):
            new.arms = [self.query(arm) for arm in query.arms]
            new.operators = list(query.operators)
        elif isinstance(query, ValuesQuery):
            new.rows = [tuple([self.expression(one) for one in row]) for row in query.rows]
        elif isinstance(query, RecursiveQuery):
            new.setup = self.query(query.setup)
            new.steps = [self.query(step) for step in query.steps]
        new.order_by = tuple([OrderTerm(self.expression(term.expression), term.descending, term.nulls_last, term.collation)
                              for term in query.order_by])
        new.limit = None if query.limit is None else self.expression(query.limit)
        new.offset = None if query.offset is None else self.expression(query.offset)
        return new

    def _new_source(self, source: int) -> int:
        new = self.sources[source] = self.binding.statement.new_source()
        return new

    def _source(self, source: int | None) -> int | None:
        return None if source is None else self.sources.get(source, source)

    def _item(self, item: FromItem) -> FromItem:
        new = FromItem(self._new_source(item.source), item.name)
        for name in FromItem.__slots__:
            if name != "source":
                setattr(new, name, getattr(item, name))
        new.used = set(item.used)
        if item.arguments is not None:
            new.arguments = tuple([self.expression(argument) for argument in item.arguments])
        if item.query is not None:
            if item.cte is None or item.is_correlated or item.cte.materialized is False:
                new.query = self.query(item.query)
            else:
                item.cte.references += 1            # the copy is one more use of the shared body
        if item.recursive is not None:
            new.recursive = self.queries.get(id(item.recursive), item.recursive)
        return new

    def expression(self, expression: Expression) -> Any:
        return expression.replace(self._change)

    def _change(self, node: Expression) -> Expression | None:
        if type(node) is Column:
            source = self.sources.get(node.source)
            if source is None:
                return None
            column: Column = node.copy()
            column.source = source
            return column
        subquery = getattr(node, "subquery", None)
        if subquery is not None:
            copy = node.copy()
            copy.subquery = self._subquery(subquery)
            if hasattr(copy, "operands"):
                copy.operands = tuple([self.expression(operand) for operand in copy.operands])
            return copy  # type: ignore[no-any-return]
        if type(node) is WindowCall:
            return replaced_window_call(node, self._change)
        return None

    def _subquery(self, subquery: Subquery) -> Subquery:
        known = self.subqueries.get(id(subquery))
        if known is None:
            known = Subquery(self.query(subquery.query), subquery.number, self.binding.statement.new_slot())
            for name in Subquery.__slots__:
                if name not in ("query", "slot") and hasattr(subquery, name):
                    setattr(known, name, getattr(subquery, name))
            self.subqueries[id(subquery)] = known
            self.binding.subqueries.append(known)
        return known


def copied_subqueries(expression: Expression | None, binding: Binding) -> Expression | None:
    """The expression with sub-queries of its own in place of those in it."""
    if expression is None or all(getattr(node, "subquery", None) is None for node in expression.walk()):
        return expression
    return Copying(binding).expression(expression)  # type: ignore[no-any-return]
