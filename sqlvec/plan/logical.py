"""The logical query: what the binder delivers and the rewrite rules work on.

One :class:`Block` is one SELECT core as SQLite's planner sees it: a result list, FROM items, AND-split conditions, grouping, ordering, limit.
``Compound`` chains blocks; ``ValuesQuery`` is VALUES; ``RecursiveQuery`` a recursive CTE.  All expressions are bound (expr/bound.py).

Unlike bound expressions, logical nodes are mutable: rewriting works in place, in the order of the rules.

Every query has ``names`` (result column names), ``number`` (its SELECT number, counted in parse order from 1, printed by EXPLAIN QUERY PLAN) and,
through ``results()``, one bound expression per result column (for compounds those of the first arm: they carry affinity and collation).

Follows "SELECT", "The WITH Clause", "Window Functions" of the manual; facts: the planner's order of transformations.

What expressions and queries read: columns, sub-queries, and the columns that a nested query takes from outside.

The binder notes outer columns while it resolves names; rewriting moves expressions between queries, so ``refresh_outer`` works them out anew.
"""
from __future__ import annotations

from sqlvec.expr.bound import Column, Expression, Subquery, WindowCall, columns_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from sqlvec.expr.bound import AggregateCall, OrderTerm
    from sqlvec.schema.objects import Table


class Condition:
    """One AND-term of WHERE, or of an ON/USING clause appended to it.

    ``outer_on`` = source of the right table when the term came from the ON clause of an outer join (it then only decides matching for that table),
    ``inner_on`` = source of the right table when it came from an inner join's ON.  ``is_using``: it came from USING or NATURAL."""

    __slots__ = ("expression", "inner_on", "is_using", "outer_on")

    def __init__(self, expression: Expression, outer_on: int | None = None, inner_on: int | None = None, is_using: bool = False) -> None:
        self.expression = expression
        self.outer_on = outer_on
        self.inner_on = inner_on
        self.is_using = is_using

    def __repr__(self) -> str:
        return f"Condition({self.expression!r}, outer_on={self.outer_on}, inner_on={self.inner_on})"


class FromItem:
    """One FROM item.  Exactly one of ``table`` (ordinary or virtual table; ``arguments`` for table-valued functions), ``query``
    (sub-query, view or CTE body) or ``recursive`` (the RecursiveQuery whose current row is read) is set.

    ``left``/``right``: this item is the right operand of a LEFT / RIGHT join (FULL = both); ``cross``: CROSS JOIN; ``left_of_right``: some later item
    is joined by RIGHT or FULL ("LTORJ").  ``label`` is what EXPLAIN QUERY PLAN prints (alias, else name, else ``(subquery-N)``).
    ``columns`` are the names of the item's columns, ``used`` collects the column numbers that the statement reads.
    ``cte`` identifies a CTE: items of one CTE share the object; ``cte.references`` counts them."""

    __slots__ = ("affinities",
        "alias",
        "arguments",
        "columns",
        "cross",
        "cte",
        "database",
        "index_name",
        "is_correlated",
        "is_narrowed",
        "is_target",
        "label",
        "left",
        "left_of_right",
        "name",
        "not_indexed",
        "query",
        "recursive",
        "resolved",
        "right",
        "source",
        "table",
        "used",
        "view",
    )

    def __init__(self, source: int, name: str) -> None:
        self.source = source
        self.name = name
        self.alias: str | None = None
        self.label = name
        self.table: Table | None = None
        self.database = 0
        self.arguments: tuple[Expression, ...] | None = None
        self.query: Query | None = None
        self.recursive: RecursiveQuery | None = None
        self.cte: CteUse | None = None
        self.left = False
        self.right = False
        self.cross = False
        self.left_of_right = False
        self.index_name: str | None = None       # INDEXED BY
        self.not_indexed = False
        self.is_correlated = False
        self.view: Table | None = None           # the view that ``query`` is the body of
        self.is_narrowed = False                 # conditions of the outer query have been pushed into ``query``
        self.columns: tuple[str, ...] = ()
        self.used: set[int] = set()
        self.affinities: tuple[str | None, ...] = ()     # of a sub-query's columns
        self.is_target = False                   # the table of an UPDATE ... FROM: its keys, which every index has, aren't in ``resolved``
        self.resolved: set[int] | None = None    # columns read when names were resolved (or when the item was merged into its block): they count
                                                 # for coverage by an index though rewriting may have dropped their readers

    def __repr__(self) -> str:
        return f"FromItem({self.source}, {self.label})"


class CteUse:
    """A common table expression shared by its uses: ``materialized`` True / False / None (no hint), ``references`` in the statement."""

    __slots__ = ("materialized", "name", "references")

    def __init__(self, name: str, materialized: bool | None) -> None:
        self.name = name
        self.materialized = materialized
        self.references = 0


class Query:
    """Base of all query forms.  ``limit``/``offset`` are bound expressions or None; ``order_by`` terms refer to FROM sources (Block) or,
    for the others, are ``Column(source=self.output_source, number=k)`` of the result.  ``column_names``: the names that the columns have when the
    query is used as a table (a view, a sub-query, CREATE TABLE AS), before they are made unique; empty = ``names``."""

    __slots__ = ("column_names", "limit", "names", "number", "offset", "order_by", "output_source")

    def __init__(self, number: int) -> None:
        self.number = number
        self.names: tuple[str, ...] = ()
        self.column_names: tuple[str, ...] = ()
        self.order_by: tuple[OrderTerm, ...] = ()
        self.limit: Expression | None = None
        self.offset: Expression | None = None
        self.output_source = -1

    def results(self) -> tuple[Expression, ...]:
        raise NotImplementedError


class Block(Query):
    """A SELECT core.  ``group_by`` None = no GROUP BY clause; ``is_aggregate`` also without GROUP BY when an aggregate occurs.

    ``aggregates`` are the distinct AggregateCall nodes (in order of appearance: result list, ORDER BY, HAVING) and ``windows`` the WindowCall nodes of the
    block; the expressions still contain them in place."""

    __slots__ = ("aggregates", "conditions", "distinct", "distinct_as_group", "from_items", "group_by", "having", "is_aggregate",
                 "limit_hint", "result", "window_limit", "window_order",
                 "windows")

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.result: tuple[Expression, ...] = ()
        self.from_items: list[FromItem] = []
        self.conditions: list[Condition] = []
        self.group_by: tuple[Expression, ...] | None = None
        self.having: Expression | None = None
        self.distinct = False
        self.distinct_as_group = False          # SELECT DISTINCT turned into GROUP BY by rewriting
        self.is_aggregate = False
        self.aggregates: list[AggregateCall] = []
        self.windows: list[WindowCall] = []
        self.limit_hint: Expression | None = None           # LIMIT of the UNION ALL around it, for estimates
        self.window_order: tuple[OrderTerm, ...] = ()       # of the query below the window passes, from a merged sub-query
        self.window_limit: Expression | None = None

    def results(self) -> tuple[Expression, ...]:
        return self.result


class Compound(Query):
    """``arms[0] op[0] arms[1] op[1] ...`` left-associative; operators 'UNION ALL' | 'UNION' | 'INTERSECT' | 'EXCEPT'.

    ``collations`` per result column (that of the left-most arm having one)."""

    __slots__ = ("arms", "collations", "operators")

    def __init__(self, number: int, arms: list[Query], operators: list[str]) -> None:
        super().__init__(number)
        self.arms = arms
        self.operators = operators
        self.collations: tuple[str, ...] = ()

    def results(self) -> tuple[Expression, ...]:
        return self.arms[0].results()


class ValuesQuery(Query):
    """VALUES (...), (...): ``rows`` of bound expressions."""

    __slots__ = ("rows",)

    def __init__(self, number: int, rows: list[tuple[Expression, ...]]) -> None:
        super().__init__(number)
        self.rows = rows

    def results(self) -> tuple[Expression, ...]:
        return self.rows[0]


class RecursiveQuery(Query):
    """A recursive CTE: ``setup`` query, ``steps`` (queries that read the current row through a FromItem with ``recursive`` set to this),
    ``distinct`` for UNION; ``order_by`` (on its output columns), ``limit`` and ``offset`` rule the queue."""

    __slots__ = ("collations", "distinct", "setup", "steps")

    def __init__(self, number: int, setup: Query, steps: list[Query], distinct: bool) -> None:
        super().__init__(number)
        self.setup = setup
        self.steps = steps
        self.distinct = distinct
        self.collations: tuple[str, ...] = ()

    def results(self) -> tuple[Expression, ...]:
        return self.setup.results()


class BoundStatement:
    """A bound SELECT: the query and what the whole statement shares: a source-number counter, a slot counter for sub-queries, SELECT counter."""

    __slots__ = ("next_number", "next_slot", "next_source", "parameters", "query")

    def __init__(self) -> None:
        self.query: Any = None
        self.next_source = 0
        self.next_slot = 0
        self.next_number = 1
        self.parameters: list[str | None] = []       # name of parameter i+1, None for '?'

    def new_source(self) -> int:
        self.next_source += 1
        return self.next_source - 1

    def new_slot(self) -> int:
        self.next_slot += 1
        return self.next_slot - 1

    def new_number(self) -> int:
        self.next_number += 1
        return self.next_number - 1


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
        for column in columns_in(nodes_of(expression)):
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
