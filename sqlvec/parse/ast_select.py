"""The nodes of SELECT and of the three row-changing statements.  Import them through ``sqlvec.parse.ast``.

A FROM clause is a flat list of ``JoinItem``: the first has ``join == 0``, each later one carries the bits of the join operator
written before it, and its ON or USING.  Joins associate to the left.  A parenthesised join that is not simply the start of the
list is one ``ParenthesisedJoin`` source (a nested ``SELECT *`` whose table names stay visible).

Follows the manual's "SELECT", "INSERT", "UPDATE", "DELETE", "UPSERT", "RETURNING" and "The WITH Clause".
"""
from __future__ import annotations

from sqlvec.parse.ast_expr import Name, Node, OrderTerm, Span, Statement, WindowSpec

JOIN_INNER = 1
JOIN_CROSS = 2
JOIN_NATURAL = 4
JOIN_LEFT = 8
JOIN_RIGHT = 16
JOIN_OUTER = 32
JOIN_COMMA = 64
JOIN_FULL = JOIN_LEFT | JOIN_RIGHT


# --- WITH ------------------------------------------------------------------------------------------------------------------------


class Cte(Node):
    """``name(columns) AS [NOT MATERIALIZED] (select)``; ``columns`` empty when not written; ``materialized``: None, True, False."""

    __slots__ = ("columns", "materialized", "name", "select")

    def __init__(self, name: Name, columns: list[Name], materialized: bool | None, select: Select, span: Span) -> None:
        self.name = name
        self.columns = columns
        self.materialized = materialized
        self.select = select
        self.span = span


class With(Node):
    __slots__ = ("ctes", "recursive")

    def __init__(self, recursive: bool, ctes: list[Cte], span: Span) -> None:
        self.recursive = recursive
        self.ctes = ctes
        self.span = span


# --- FROM --------------------------------------------------------------------------------------------------------------------------


class TableName(Node):
    """``[schema.]name [(args)] [AS alias] [INDEXED BY indexed_by | NOT INDEXED]``; ``args`` is None unless parentheses were written."""

    __slots__ = ("alias", "args", "indexed_by", "name", "not_indexed", "schema")

    def __init__(
        self,
        schema: Name | None,
        name: Name,
        alias: Name | None,
        indexed_by: Name | None,
        not_indexed: bool,
        args: list[Node] | None,
        span: Span,
    ) -> None:
        self.schema = schema
        self.name = name
        self.alias = alias
        self.indexed_by = indexed_by
        self.not_indexed = not_indexed
        self.args = args
        self.span = span


class SubqueryFrom(Node):
    __slots__ = ("alias", "select")

    def __init__(self, select: Select, alias: Name | None, span: Span) -> None:
        self.select = select
        self.alias = alias
        self.span = span


class ParenthesisedJoin(Node):
    __slots__ = ("alias", "items")

    def __init__(self, items: list[JoinItem], alias: Name | None, span: Span) -> None:
        self.items = items
        self.alias = alias
        self.span = span


class JoinItem(Node):
    """A source with the operator before it: ``join`` is 0 for the first, else bits JOIN_*; ``using`` None or a list of names."""

    __slots__ = ("join", "on", "source", "using")

    def __init__(
        self, source: TableName | SubqueryFrom | ParenthesisedJoin, join: int, on: Node | None, using: list[Name] | None, span: Span
    ) -> None:
        self.source = source
        self.join = join
        self.on = on
        self.using = using
        self.span = span


# --- SELECT --------------------------------------------------------------------------------------------------------------------------


class ResultColumn(Node):
    """``expr [AS alias]``.  ``text`` is the trimmed source of the expression, the column's name when there is no alias."""

    __slots__ = ("alias", "expr", "text")

    def __init__(self, expr: Node, alias: Name | None, text: str, span: Span) -> None:
        self.expr = expr
        self.alias = alias
        self.text = text
        self.span = span


class Star(Node):
    """``*``"""

    __slots__ = ()

    def __init__(self, span: Span) -> None:
        self.span = span


class TableStar(Node):
    """``table.*``"""

    __slots__ = ("table",)

    def __init__(self, table: Name, span: Span) -> None:
        self.table = table
        self.span = span


class WindowDefinition(Node):
    """``WINDOW name AS (spec)``"""

    __slots__ = ("name", "spec")

    def __init__(self, name: Name, spec: WindowSpec, span: Span) -> None:
        self.name = name
        self.spec = spec
        self.span = span


class SelectCore(Node):
    """One SELECT ... of a chain, without ORDER BY and LIMIT.  ``from_`` is empty when there is no FROM clause."""

    __slots__ = ("columns", "distinct", "from_", "group_by", "having", "where", "windows")

    def __init__(
        self,
        distinct: bool,
        columns: list[ResultColumn | Star | TableStar],
        from_: list[JoinItem],
        where: Node | None,
        group_by: list[Node],
        having: Node | None,
        windows: list[WindowDefinition],
        span: Span,
    ) -> None:
        self.distinct = distinct
        self.columns = columns
        self.from_ = from_
        self.where = where
        self.group_by = group_by
        self.having = having
        self.windows = windows
        self.span = span


class Values(Node):
    __slots__ = ("rows",)

    def __init__(self, rows: list[list[Node]], span: Span) -> None:
        self.rows = rows
        self.span = span


class Compound(Node):
    """``cores[0] operators[0] cores[1] operators[1] ...``, left-associative; 'UNION' 'UNION ALL' 'INTERSECT' 'EXCEPT'."""

    __slots__ = ("cores", "operators")

    def __init__(self, cores: list[SelectCore | Values], operators: list[str], span: Span) -> None:
        self.cores = cores
        self.operators = operators
        self.span = span


class Select(Statement):
    __slots__ = ("body", "limit", "offset", "order_by", "with_")

    def __init__(
        self,
        with_: With | None,
        body: SelectCore | Values | Compound,
        order_by: list[OrderTerm],
        limit: Node | None,
        offset: Node | None,
        span: Span,
    ) -> None:
        self.with_ = with_
        self.body = body
        self.order_by = order_by
        self.limit = limit
        self.offset = offset
        self.span = span


# --- INSERT, UPDATE, DELETE ------------------------------------------------------------------------------------------------------------


class SetClause(Node):
    """``name = expr`` or ``(names) = expr``; ``is_row`` tells whether parentheses were written around the names."""

    __slots__ = ("expr", "is_row", "names")

    def __init__(self, names: list[Name], is_row: bool, expr: Node, span: Span) -> None:
        self.names = names
        self.is_row = is_row
        self.expr = expr
        self.span = span


class Upsert(Node):
    """``ON CONFLICT [(target) [WHERE target_where]] DO NOTHING | UPDATE SET sets [WHERE where]``; ``sets`` None for NOTHING."""

    __slots__ = ("sets", "target", "target_where", "where")

    def __init__(
        self, target: list[OrderTerm] | None, target_where: Node | None, sets: list[SetClause] | None, where: Node | None, span: Span
    ) -> None:
        self.target = target
        self.target_where = target_where
        self.sets = sets
        self.where = where
        self.span = span


class Insert(Statement):
    """``or_action``: None 'ROLLBACK' 'ABORT' 'FAIL' 'IGNORE' 'REPLACE'; ``source`` None for DEFAULT VALUES; ``columns`` None if absent.

    ``returning`` is a list of ResultColumn, Star, TableStar, or None.
    """

    __slots__ = ("columns", "or_action", "returning", "source", "table", "upserts", "with_")

    def __init__(
        self,
        with_: With | None,
        or_action: str | None,
        table: TableName,
        columns: list[Name] | None,
        source: Select | None,
        upserts: list[Upsert],
        returning: list[ResultColumn | Star | TableStar] | None,
        span: Span,
    ) -> None:
        self.with_ = with_
        self.or_action = or_action
        self.table = table
        self.columns = columns
        self.source = source
        self.upserts = upserts
        self.returning = returning
        self.span = span


class Update(Statement):
    __slots__ = ("from_", "limit", "offset", "or_action", "order_by", "returning", "sets", "table", "where", "with_")

    def __init__(
        self,
        with_: With | None,
        or_action: str | None,
        table: TableName,
        sets: list[SetClause],
        from_: list[JoinItem],
        where: Node | None,
        returning: list[ResultColumn | Star | TableStar] | None,
        order_by: list[OrderTerm],
        limit: Node | None,
        offset: Node | None,
        span: Span,
    ) -> None:
        self.with_ = with_
        self.or_action = or_action
        self.table = table
        self.sets = sets
        self.from_ = from_
        self.where = where
        self.returning = returning
        self.order_by = order_by
        self.limit = limit
        self.offset = offset
        self.span = span


class Delete(Statement):
    __slots__ = ("limit", "offset", "order_by", "returning", "table", "where", "with_")

    def __init__(
        self,
        with_: With | None,
        table: TableName,
        where: Node | None,
        returning: list[ResultColumn | Star | TableStar] | None,
        order_by: list[OrderTerm],
        limit: Node | None,
        offset: Node | None,
        span: Span,
    ) -> None:
        self.with_ = with_
        self.table = table
        self.where = where
        self.returning = returning
        self.order_by = order_by
        self.limit = limit
        self.offset = offset
        self.span = span
