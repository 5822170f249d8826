"""The rewrite rules, in SQLite's order of transformations.

``rewrite_query`` goes from the outermost query inwards: a block first swallows its FROM sub-queries, then hands conditions down to those that remain,
and only then are these rewritten themselves; sub-queries in expressions come last.

For one SELECT core:

    1. a WHERE that is false for sure loses its other terms
    2. for each FROM item: LEFT JOIN -> JOIN (simplify_outer_join), superfluous ORDER BY of a sub-query dropped, sub-query merged (flatten_subquery),
       from the start again after each merge
    3. constants propagated (propagate_constants)
    4. conditions pushed into FROM sub-queries (push_down_filter), which are rewritten then
    5. SELECT DISTINCT a, b ... ORDER BY a, b -> GROUP BY a, b
    6. terms of HAVING over grouping columns move to WHERE (having_to_where)

A query may be replaced by another one (a block over a flattened UNION ALL becomes a Compound): ``rewrite_query`` returns it.

Follows "The SQLite Query Optimizer Overview" of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import Collate, Column, Expression, Literal, OrderTerm
from sqlvec.plan.logical import Block, Compound, FromItem, Query, RecursiveQuery, query_expressions, subqueries_in
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.plan.scope import Binding

ANY_ORDER = frozenset(("count", "min", "max"))


class Rewriting:
    """The rewriting of one statement.  ``done`` are ids of queries rewritten already (CTEs are shared between their uses)."""

    __slots__ = ("binding", "complex", "done", "simplified")

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self.done: dict[int, Query] = {}
        self.complex: dict[int, bool] = {}      # by block: did its result list have a function call or a sub-query before anything was merged into it?
        self.simplified: set[int] = set()       # blocks made by flattening, whose terms stay as they are

    def query(self, query: Query, is_recursive: bool = False, is_arm: bool = False, is_ordered: bool = False) -> Query:
        """Rewrite a query and everything in it.  ``is_recursive``: it is a step of a recursive CTE; ``is_arm``: an arm of a compound, ``is_ordered``:
        of one with ORDER BY."""
        known = self.done.get(id(query))
        if known is not None:
            return known
        original = query
        self.done[id(original)] = original
        if isinstance(query, Block):
            query = self.block(query, is_recursive, is_arm, is_ordered)
        elif isinstance(query, Compound):
            if _sorts_by_collation(query):
                del self.done[id(original)]
                query = self.block(self._around(query), is_recursive, is_arm, is_ordered)
            else:
                self.compound(query)
        elif isinstance(query, RecursiveQuery):
            query.setup = self.query(query.setup)
            query.steps = [self.query(step, True) for step in query.steps]
        for subquery in subqueries_in(query_expressions(query)):
            subquery.query = self.query(subquery.query)
            if getattr(subquery, "kind", "") == "EXISTS" and isinstance(subquery.query, Block):
                subquery.query.order_by = ()
                subquery.query.distinct = False
        self.done[id(original)] = query
        self.done[id(query)] = query
        return query

    def _around(self, query: Compound) -> Block:
        """``SELECT * FROM (compound) ORDER BY``: what SQLite makes of a compound that removes duplicates and sorts by a COLLATE of its own.

        It is the last arm that is made over, so the DISTINCT is that one's."""
        statement = self.binding.statement
        item = FromItem(statement.new_source(), f"(subquery-{query.number})")
        item.query = query
        item.columns = query.names
        results = query.results()
        item.affinities = tuple([result.affinity for result in results])
        columns = tuple([Column(item.source, number, name, results[number].affinity, query.collations[number])
                         for number, name in enumerate(query.names)])

        def change(node: Expression) -> Expression | None:
            return columns[node.number] if type(node) is Column and node.source == query.output_source else None

        block = Block(query.number)
        block.names = query.names
        block.from_items = [item]
        block.result = columns
        block.order_by = tuple([OrderTerm(term.expression.replace(change), term.descending, term.nulls_last, term.collation)
                                for term in query.order_by])
        block.limit, block.offset = query.limit, query.offset
        query.order_by = ()
        query.limit = query.offset = None
        last = query.arms[-1]
        if isinstance(last, Block):
            block.distinct, last.distinct = last.distinct, False
        return block

    def compound(self, query: Compound) -> None:
        """Rewrite the arms.  A DISTINCT below an operator that removes duplicates anyway is dropped."""
        last = max((number for number, operator in enumerate(query.operators) if operator != "UNION ALL"), default=-1)
        for number, arm in enumerate(query.arms):
            if not isinstance(arm, Block):
                continue
            is_set = number <= last + 1 and last >= 0 and not query.order_by
            if is_set:
                arm.distinct = False
            self.done.pop(id(arm), None)
            arm = query.arms[number] = self.query(arm, is_arm=True, is_ordered=bool(query.order_by))
            if is_set and arm.limit is None:
                arm.order_by = ()

    def block(self, block: Block, is_recursive: bool, is_arm: bool, is_ordered: bool) -> Query:
        """Rewrite a SELECT core."""
        if id(block) not in self.simplified:
            _drop_beside_false(block)
        items = block.from_items
        if len(items) > 1 or any(item.query is not None for item in items):
            found = self._merge(block, is_recursive, is_arm, is_ordered)
            if found is not block:
                return found
        if len(block.conditions) > 1:
            resolve("sqlvec.plan.rewrite.propagate_constants:propagate_constants")(block)
        for item in block.from_items:
            if item.query is not None:
                if id(item.query) not in self.done:
                    item.is_narrowed = resolve("sqlvec.plan.rewrite.push_down_filter:push_down_filter")(block, item, self.binding)
                item.query = self.query(item.query)
        if block.distinct and not block.is_aggregate and not block.windows and _same_list(block):
            block.distinct = False
            block.distinct_as_group = True
            block.group_by = block.result
            block.is_aggregate = True
        if block.having is not None and block.group_by is not None:
            resolve("sqlvec.plan.rewrite.having_to_where:having_to_where")(block)
        return block

    def _merge(self, block: Block, is_recursive: bool, is_arm: bool, is_ordered: bool) -> Query:
        """Simplify joins and flatten FROM sub-queries until nothing changes."""
        is_complex = self.complex.setdefault(id(block), _is_complex(block))
        position = 0
        while position < len(block.from_items):
            item = block.from_items[position]
            if item.left:
                resolve("sqlvec.plan.rewrite.simplify_outer_join:simplify_outer_join")(block, item)
            query = item.query
            if isinstance(query, Compound) and id(query) not in self.done and _sorts_by_collation(query):
                query = item.query = self._around(query)
            position += 1
            last = query.arms[-1] if isinstance(query, Compound) else query
            if query is None or (isinstance(last, Block) and last.is_aggregate):
                continue
            _drop_order(block, item, is_ordered)
            if query.order_by and position == 1 and is_complex and (len(block.from_items) == 1 or _is_fixed(block.from_items[1])):
                continue
            if item.left and isinstance(query, Block) and len(query.from_items) == 1 and query.from_items[0].query is not None \
                    and not all(type(result) is Column for result in query.result):
                self._merge(query, False, False, False)         # null rows are told by a table, so the inner ones are merged first
            merged = resolve("sqlvec.plan.rewrite.flatten_subquery:flatten")(block, item, self.binding, is_recursive, is_arm)
            if merged is None:
                continue
            if merged is not block:
                assert isinstance(merged, Compound)
                self.simplified.update(id(arm) for arm in merged.arms)
                self.complex.update((id(arm), is_complex) for arm in merged.arms)
                self.compound(merged)
                return merged
            position = 0
        return block


def _sorts_by_collation(query: Compound) -> bool:
    return any(operator != "UNION ALL" for operator in query.operators) and any(
        isinstance(node, Collate) for term in query.order_by for node in term.expression.walk())


def rewrite_query(query: Query, binding: Binding) -> Query:
    """Rewrite a bound query; the result takes its place."""
    return Rewriting(binding).query(query)


def _drop_beside_false(block: Block) -> None:
    """``x AND 0`` is 0: in WHERE with inner ON terms, and in each outer ON by itself."""
    for condition in block.conditions:
        value = condition.expression
        if type(value) is Literal and type(value.value) is int and value.value == 0 and value.collation is None:
            if condition.outer_on is None:
                block.conditions = [condition]
                return
            block.conditions = [other for other in block.conditions if other is condition or other.outer_on != condition.outer_on]
            return


def _drop_order(block: Block, item: FromItem, is_ordered: bool) -> None:
    """Drop the ORDER BY of a FROM sub-query that nobody can notice."""
    query = item.query
    assert query is not None
    if not query.order_by or query.limit is not None or isinstance(query, RecursiveQuery) or block.windows:
        return
    if not block.order_by and not is_ordered and len(block.from_items) == 1:
        return
    if any(call.function.kind not in ANY_ORDER or not call.function.builtin for call in block.aggregates):
        return
    query.order_by = ()


def _is_fixed(item: FromItem) -> bool:
    return item.left or item.right or item.cross


def _is_complex(block: Block) -> bool:
    """Does the result list contain a function call or a sub-query?  Window functions are computed above the query that could be merged with."""
    return not block.windows and any(getattr(node, "function", None) is not None or getattr(node, "subquery", None) is not None
               for expression in block.result for node in expression.walk())


def _same_list(block: Block) -> bool:
    """Is ORDER BY the result list, all terms ascending?"""
    order: tuple[Expression, ...] = tuple(term.expression for term in block.order_by)
    if len(order) != len(block.result):
        return False
    return all(not term.descending and term.nulls_last is None and term.expression == result and term.collation == (result.collation or "BINARY")
               for term, result in zip(block.order_by, block.result, strict=True))
