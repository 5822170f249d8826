"""The abstract syntax of the whole language: ``from sqlvec.parse import ast`` and then ``ast.Select``, ``ast.CreateTable``, ...

The nodes of names, expressions, queries, INSERT, UPDATE and DELETE are here; all others are in ``ast_ddl``, which is loaded when one of its names is
first asked for, since a query needs none of them.

Invariants
 1. ``span`` is a pair of character offsets (start, end) into the SQL text given to the parser.  Parentheses around an expression
    leave no node and are not part of its span (``ResultColumn.span`` covers them, for column names).
 2. Every identifier is a ``Name``: ``text`` is the identifier without its quotes, ``quoted`` the quote character used ('' for none).
 3. The fields of a node are the ``__slots__`` of its class, in order; equality and ``repr`` go over them and ignore spans.
    Nodes are not hashable (key by ``id``).
 4. Optional children are ``None``, lists of children are Python lists.

A FROM clause is a flat list of ``JoinItem``: the first has ``join == 0``, each later one carries the bits of the join operator
written before it, and its ON or USING.  Joins associate to the left.  A parenthesised join that is not simply the start of the
list is one ``ParenthesisedJoin`` source (a nested ``SELECT *`` whose table names stay visible).

Follows the manual's "SQL Language Expressions", "Window Functions", "SELECT", "INSERT", "UPDATE", "DELETE", "UPSERT", "RETURNING" and "The WITH
Clause".
"""
from __future__ import annotations

from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.parse.ast_ddl import (
        AlterAddColumn,
        AlterDropColumn,
        AlterRenameColumn,
        AlterRenameTable,
        Analyze,
        Attach,
        Begin,
        Check,
        ColumnCollate,
        ColumnDef,
        Commit,
        CreateIndex,
        CreateTable,
        CreateTrigger,
        CreateView,
        CreateVirtualTable,
        Default,
        Detach,
        Drop,
        Explain,
        ForeignKey,
        Generated,
        NotNull,
        Nullable,
        Pragma,
        PrimaryKey,
        Reindex,
        Release,
        Rollback,
        Savepoint,
        Unique,
        Vacuum,
    )


Span = tuple[int, int]


class Node:
    """What every node has: a span, equality and a printable form."""

    __slots__ = ("span",)
    span: Span

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, field) == getattr(other, field) for field in type(self).__slots__ if field != "span")

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        cls = type(self)
        return f"{cls.__name__}({', '.join(f'{field}={getattr(self, field)!r}' for field in cls.__slots__ if field != 'span')})"


class Statement(Node):
    """A whole statement.  ``parameter_count`` is the highest parameter number, ``parameter_names`` maps numbers to ``:a`` ``?7`` ..."""

    __slots__ = ("parameter_count", "parameter_names")
    parameter_count: int
    parameter_names: dict[int, str]


class Name(Node):
    """An identifier as written: ``text`` without quotes, ``quoted`` is '' or the opening quote: ``"`` ``[`` `````` or ``'``."""

    __slots__ = ("quoted", "text")

    def __init__(self, text: str, span: Span, quoted: str = "") -> None:
        self.text = text
        self.span = span
        self.quoted = quoted

    @property
    def written(self) -> str:
        """The identifier with its quotes, as some error texts show it."""
        if not self.quoted:
            return self.text
        if self.quoted == "[":
            return f"[{self.text}]"
        return self.quoted + self.text.replace(self.quoted, self.quoted * 2) + self.quoted

    def __repr__(self) -> str:
        return f"Name({self.text!r})" if not self.quoted else f"Name({self.text!r}, {self.quoted!r})"


# --- leaves ----------------------------------------------------------------------------------------------------------------------


class Literal(Node):
    """A constant.  ``kind``: 'null' 'integer' 'float' 'string' 'blob', or 'hex_too_big' (``value`` is its text; an error if evaluated).

    A decimal integer beyond int64 is kind 'float'.  ``-9223372036854775808`` is folded by the parser into one 'integer' literal
    and ``-0x8000000000000000`` into 'hex_too_big'; TRUE and FALSE are unquoted ``ColumnRef``, as they may name columns.
    """

    __slots__ = ("kind", "value")

    def __init__(self, kind: str, value: Any, span: Span) -> None:
        self.kind = kind
        self.value = value
        self.span = span


class CurrentTime(Node):
    """CURRENT_TIME, CURRENT_DATE or CURRENT_TIMESTAMP (``kind``, upper case)."""

    __slots__ = ("kind",)

    def __init__(self, kind: str, span: Span) -> None:
        self.kind = kind
        self.span = span


class Parameter(Node):
    """``?`` ``?NNN`` ``:a`` ``@a`` ``$a``: ``number`` is assigned (from 1), ``name`` is the text as written, None for a plain ``?``."""

    __slots__ = ("name", "number")

    def __init__(self, number: int, name: str | None, span: Span) -> None:
        self.number = number
        self.name = name
        self.span = span


class ColumnRef(Node):
    """``column``, ``table.column`` or ``schema.table.column``.  A double-quoted lone ``column`` that resolves to nothing is a string."""

    __slots__ = ("column", "schema", "table")

    def __init__(self, schema: Name | None, table: Name | None, column: Name, span: Span) -> None:
        self.schema = schema
        self.table = table
        self.column = column
        self.span = span


# --- operators -------------------------------------------------------------------------------------------------------------------


class Unary(Node):
    """``op``: '-' '+' '~' 'NOT'."""

    __slots__ = ("op", "operand")

    def __init__(self, op: str, operand: Node, span: Span) -> None:
        self.op = op
        self.operand = operand
        self.span = span


class Binary(Node):
    """``op``: '*' '/' '%' '+' '-' '&' '|' '<<' '>>' '<' '<=' '>' '>=' '=' '!=' 'IS' 'IS NOT' '->' '->>'.

    ``==`` is stored as '=', ``<>`` as '!='; IS [NOT] DISTINCT FROM as 'IS NOT' / 'IS'.  Chains are left-deep, up to depth 1,000.
    """

    __slots__ = ("left", "op", "right")

    def __init__(self, op: str, left: Node, right: Node, span: Span) -> None:
        self.op = op
        self.left = left
        self.right = right
        self.span = span


class Nary(Node):
    """A flattened chain of 'AND', 'OR' or '||': at least two operands, evaluated from the left."""

    __slots__ = ("op", "operands")

    def __init__(self, op: str, operands: list[Node], span: Span) -> None:
        self.op = op
        self.operands = operands
        self.span = span


class Between(Node):
    __slots__ = ("high", "low", "negated", "operand")

    def __init__(self, operand: Node, low: Node, high: Node, negated: bool, span: Span) -> None:
        self.operand = operand
        self.low = low
        self.high = high
        self.negated = negated
        self.span = span


class InList(Node):
    """``operand [NOT] IN (items...)``; the list may be empty."""

    __slots__ = ("items", "negated", "operand")

    def __init__(self, operand: Node, items: list[Node], negated: bool, span: Span) -> None:
        self.operand = operand
        self.items = items
        self.negated = negated
        self.span = span


class InSelect(Node):
    __slots__ = ("negated", "operand", "select")

    def __init__(self, operand: Node, select: Select, negated: bool, span: Span) -> None:
        self.operand = operand
        self.select = select
        self.negated = negated
        self.span = span


class InTable(Node):
    """``operand [NOT] IN schema.table`` or ``IN table_function(args)`` (``args`` None without parentheses)."""

    __slots__ = ("args", "negated", "operand", "schema", "table")

    def __init__(self, operand: Node, schema: Name | None, table: Name, args: list[Node] | None, negated: bool, span: Span) -> None:
        self.operand = operand
        self.schema = schema
        self.table = table
        self.args = args
        self.negated = negated
        self.span = span


class Like(Node):
    """``operand [NOT] op pattern [ESCAPE escape]``; ``op``: 'LIKE' 'GLOB' 'REGEXP' 'MATCH'."""

    __slots__ = ("escape", "negated", "op", "operand", "pattern")

    def __init__(self, op: str, operand: Node, pattern: Node, escape: Node | None, negated: bool, span: Span) -> None:
        self.op = op
        self.operand = operand
        self.pattern = pattern
        self.escape = escape
        self.negated = negated
        self.span = span


class IsNull(Node):
    """ISNULL, NOTNULL, NOT NULL.  (``IS NULL`` and ``IS NOT NULL`` are stored in this node as well.)"""

    __slots__ = ("negated", "operand")

    def __init__(self, operand: Node, negated: bool, span: Span) -> None:
        self.operand = operand
        self.negated = negated
        self.span = span


class Case(Node):
    """``base`` None for a searched CASE; ``whens`` is a list of (condition, result) pairs."""

    __slots__ = ("base", "else_", "whens")

    def __init__(self, base: Node | None, whens: list[tuple[Node, Node]], else_: Node | None, span: Span) -> None:
        self.base = base
        self.whens = whens
        self.else_ = else_
        self.span = span


class Cast(Node):
    """``type_name`` is the source text of the type, '' when missing."""

    __slots__ = ("operand", "type_name")

    def __init__(self, operand: Node, type_name: str, span: Span) -> None:
        self.operand = operand
        self.type_name = type_name
        self.span = span


class Collate(Node):
    __slots__ = ("collation", "operand")

    def __init__(self, operand: Node, collation: Name, span: Span) -> None:
        self.operand = operand
        self.collation = collation
        self.span = span


class FunctionCall(Node):
    """``name([DISTINCT] args | *) [FILTER (WHERE filter)] [OVER over]``; ``over`` is a WindowSpec or the Name of a window."""

    __slots__ = ("args", "distinct", "filter", "name", "over", "star")

    def __init__(
        self, name: Name, args: list[Node], star: bool, distinct: bool, filter: Node | None, over: WindowSpec | Name | None, span: Span
    ) -> None:
        self.name = name
        self.args = args
        self.star = star
        self.distinct = distinct
        self.filter = filter
        self.over = over
        self.span = span


class Exists(Node):
    """``EXISTS (select)``; NOT EXISTS is a Unary NOT over it."""

    __slots__ = ("select",)

    def __init__(self, select: Select, span: Span) -> None:
        self.select = select
        self.span = span


class ScalarSelect(Node):
    """A select in parentheses, used as a value or as a row value."""

    __slots__ = ("select",)

    def __init__(self, select: Select, span: Span) -> None:
        self.select = select
        self.span = span


class RowValue(Node):
    """``(a, b, ...)`` with at least two items."""

    __slots__ = ("items",)

    def __init__(self, items: list[Node], span: Span) -> None:
        self.items = items
        self.span = span


class Raise(Node):
    """``RAISE(action, message)``; ``action``: 'IGNORE' 'ROLLBACK' 'ABORT' 'FAIL'; ``message`` None for IGNORE."""

    __slots__ = ("action", "message")

    def __init__(self, action: str, message: str | None, span: Span) -> None:
        self.action = action
        self.message = message
        self.span = span


# --- ordering and windows ----------------------------------------------------------------------------------------------------------


class OrderTerm(Node):
    """``nulls``: None, 'FIRST' or 'LAST' as written; ``explicit_direction`` tells whether ASC or DESC was written."""

    __slots__ = ("desc", "explicit_direction", "expr", "nulls")

    def __init__(self, expr: Node, desc: bool, nulls: str | None, explicit_direction: bool, span: Span) -> None:
        self.expr = expr
        self.desc = desc
        self.nulls = nulls
        self.explicit_direction = explicit_direction
        self.span = span


class FrameBound(Node):
    """``kind``: 'UNBOUNDED PRECEDING' 'PRECEDING' 'CURRENT ROW' 'FOLLOWING' 'UNBOUNDED FOLLOWING'; ``expr`` for the middle kinds."""

    __slots__ = ("expr", "kind")

    def __init__(self, kind: str, expr: Node | None, span: Span) -> None:
        self.kind = kind
        self.expr = expr
        self.span = span


class Frame(Node):
    """``unit``: 'ROWS' 'RANGE' 'GROUPS'; ``exclude``: None 'NO OTHERS' 'CURRENT ROW' 'GROUP' 'TIES'; a lone bound's end is CURRENT ROW."""

    __slots__ = ("end", "exclude", "start", "unit")

    def __init__(self, unit: str, start: FrameBound, end: FrameBound, exclude: str | None, span: Span) -> None:
        self.unit = unit
        self.start = start
        self.end = end
        self.exclude = exclude
        self.span = span


class WindowSpec(Node):
    """``([base] [PARTITION BY ...] [ORDER BY ...] [frame])``; ``frame`` None when not written."""

    __slots__ = ("base", "frame", "order_by", "partition_by")

    def __init__(self, base: Name | None, partition_by: list[Node], order_by: list[OrderTerm], frame: Frame | None, span: Span) -> None:
        self.base = base
        self.partition_by = partition_by
        self.order_by = order_by
        self.frame = frame
        self.span = span


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


_DDL = (
    "AlterAddColumn", "AlterDropColumn", "AlterRenameColumn", "AlterRenameTable", "Analyze", "Attach", "Begin", "Check", "ColumnCollate",
    "ColumnDef", "Commit", "CreateIndex", "CreateTable", "CreateTrigger", "CreateView", "CreateVirtualTable", "Default", "Detach", "Drop",
    "Explain", "ForeignKey", "Generated", "NotNull", "Nullable", "Pragma", "PrimaryKey", "Reindex", "Release", "Rollback", "Savepoint",
    "Unique", "Vacuum",
)  # fmt: skip

__all__ = [
    "JOIN_COMMA", "JOIN_CROSS", "JOIN_FULL", "JOIN_INNER", "JOIN_LEFT", "JOIN_NATURAL", "JOIN_OUTER", "JOIN_RIGHT", "AlterAddColumn",
    "AlterDropColumn", "AlterRenameColumn", "AlterRenameTable", "Analyze", "Attach", "Begin", "Between", "Binary", "Case", "Cast",
    "Check", "Collate", "ColumnCollate", "ColumnDef", "ColumnRef", "Commit", "Compound", "CreateIndex", "CreateTable", "CreateTrigger",
    "CreateView", "CreateVirtualTable", "Cte", "CurrentTime", "Default", "Delete", "Detach", "Drop", "Exists", "Explain", "ForeignKey",
    "Frame", "FrameBound", "FunctionCall", "Generated", "InList", "InSelect", "InTable", "Insert", "IsNull", "JoinItem", "Like",
    "Literal", "Name", "Nary", "Node", "NotNull", "Nullable", "OrderTerm", "Parameter", "ParenthesisedJoin", "Pragma", "PrimaryKey",
    "Raise", "Reindex", "Release", "ResultColumn", "Rollback", "RowValue", "Savepoint", "ScalarSelect", "Select", "SelectCore",
    "SetClause", "Span", "Star", "Statement", "SubqueryFrom", "TableName", "TableStar", "Unary", "Unique", "Update", "Upsert", "Vacuum",
    "Values", "WindowDefinition", "WindowSpec", "With",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load the nodes of ``ast_ddl`` on first use."""
    if name not in _DDL:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = resolve("sqlvec.parse.ast_ddl:" + name)
    return found
