"""The nodes of expressions, names, and the two roots ``Node`` and ``Statement``.

Import them through ``sqlvec.parse.ast``; this file exists only because one file for the whole language would be too long.

Invariants
 1. ``span`` is a pair of character offsets (start, end) into the SQL text given to the parser.  Parentheses around an expression
    leave no node and are not part of its span (``ResultColumn.span`` covers them, for column names).
 2. Every identifier is a ``Name``: ``text`` is the identifier without its quotes, ``quoted`` the quote character used ('' for none).
 3. The fields of a node are the ``__slots__`` of its class, in order; equality and ``repr`` go over them and ignore spans.
    Nodes are not hashable (key by ``id``).
 4. Optional children are ``None``, lists of children are Python lists.

Follows the manual's "SQL Language Expressions" and "Window Functions".
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.parse.ast_select import Select

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
