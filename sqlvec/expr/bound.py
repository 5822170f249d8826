"""Bound expressions: what the binder makes of the AST, and the only expression form that planner and both engines know.

Idea: a bound expression has no names left.  A column is ``Column(source, number)``: ``source`` is an integer unique in the whole
statement (FROM items, operator outputs, NEW/OLD rows), ``number`` the column in that source (-1 = the rowid).  Affinity and collation
of comparisons are decided by the binder and stored on the comparison.

Environment of evaluation: an expression is always emitted against a *layout*, the columns its operator's input row has.  A Column
whose (source, number) is not in the layout belongs to an enclosing query (a correlated reference, NEW/OLD of a trigger): it is an
*outer value*, handed in from outside.

Invariants
1. Nodes are immutable once built; rewriting builds new nodes (``Expression.replace``).
2. ``affinity`` is a constant of values.storage or None (no affinity); ``collation`` a collation name or None;
   ``explicit`` is True where the collation comes from a COLLATE operator inside.
3. Children are found through ``children()`` only: every node class lists its child slots in ``CHILD`` (single) and ``CHILDREN`` (tuples).

Follows "SQL Language Expressions" and "Datatypes In SQLite" of the manual.

Affinity and collation of comparisons: decided once, here, when a comparison is bound.

Rules
1. If both operands have an affinity and either is numeric, NUMERIC is applied to both; if only one has an affinity, that one is applied.
2. The collation is the explicit COLLATE of the left, then of the right operand, then that of the left, then of the right column, else BINARY.

Follows "Datatypes In SQLite", sections on comparison and collation, of the manual.
"""
from __future__ import annotations

from sqlvec.values.affinity import BLOB, NUMERIC, TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from sqlvec.functions.registry import AggregateFunction, ScalarFunction
    from sqlvec.schema.objects import Table


class Expression:
    """Base of all bound expressions."""

    __slots__ = ("affinity", "collation", "explicit")
    CHILD: tuple[str, ...] = ()
    CHILDREN: tuple[str, ...] = ()
    affinity: str | None
    collation: str | None
    explicit: bool

    def __init__(self) -> None:
        self.affinity = None
        self.collation = None
        self.explicit = False

    def _fields(self) -> Iterator[str]:
        for cls in type(self).__mro__:
            yield from getattr(cls, "__slots__", ())

    def children(self) -> Iterator[Expression]:
        """All direct sub-expressions, left to right (not the insides of sub-queries)."""
        for name in self.CHILD:
            child = getattr(self, name)
            if child is not None:
                yield child
        for name in self.CHILDREN:
            yield from getattr(self, name)

    def walk(self) -> Iterator[Expression]:
        """This node and all below it, a shared one once, without Python recursion (expressions may be 1,000 deep)."""
        stack = [self]
        seen = set()
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            yield node
            stack.extend(reversed(list(node.children())))

    def replace(self, change: Callable[[Expression], Expression | None]) -> Expression:
        """A copy in which ``change(node)``, tried on each node from the top, replaces the node where it returns one; unchanged parts are shared,
        and so are the copies of shared nodes."""
        return self._replaced(change, {})

    def _replaced(self, change: Callable[[Expression], Expression | None], done: dict[int, Expression]) -> Expression:
        known = done.get(id(self))
        if known is not None:
            return known
        new = change(self)
        if new is not None:
            done[id(self)] = new
            return new
        copy = None
        for name in self.CHILD:
            child = getattr(self, name)
            if child is not None:
                new_child = child._replaced(change, done)
                if new_child is not child:
                    copy = copy or self.copy()
                    setattr(copy, name, new_child)
        for name in self.CHILDREN:
            items = getattr(self, name)
            new_items = tuple([item._replaced(change, done) for item in items])
            if any(a is not b for a, b in zip(items, new_items, strict=True)):
                copy = copy or self.copy()
                setattr(copy, name, new_items)
        result = done[id(self)] = copy or self
        return result

    def copy(self) -> Any:
        new = object.__new__(type(self))
        for name in self._fields():
            setattr(new, name, getattr(self, name))
        return new

    def key(self) -> tuple[Any, ...]:
        """A hashable key: equal keys mean the same value in the same environment (used to match index and GROUP BY expressions)."""
        parts: list[Any] = [type(self).__name__]
        for name in self._fields():
            if name in ("affinity", "explicit", "name", "table"):
                continue
            parts.append(_key_part(getattr(self, name)))
        return tuple(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={getattr(self, name)!r}" for name in type(self).__slots__ if name != "table")
        return f"{type(self).__name__}({inner})"


def _key_part(value: Any) -> Any:
    if isinstance(value, Expression):
        return value.key()
    if isinstance(value, tuple):
        return tuple(_key_part(item) for item in value)
    if isinstance(value, (int, float, bytes, str)) or value is None:
        return (type(value).__name__, value)
    return id(value)


class Literal(Expression):
    """A constant: None, int, float, str or bytes."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class FixedColumn(Expression):
    """A column that WHERE equates with the constant ``value``: only the planner sees it (as a column to search by that ties nothing to its table);
    whatever leaves ``plan.access`` has the constant in its place."""

    __slots__ = ("column", "value")

    def __init__(self, column: Column, value: Expression) -> None:
        self.affinity = column.affinity
        self.collation = column.collation
        self.explicit = False
        self.column = column
        self.value = value


class Parameter(Expression):
    """Bound parameter number ``index`` (1-based); unbound is NULL."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index


class Column(Expression):
    """Column ``number`` (-1 = rowid) of ``source``.  ``name`` is for humans; ``not_null`` says the declared constraint excludes NULL and the source
    is not on the null side of an outer join; ``table`` is the schema object when the source is a table, else None."""

    __slots__ = ("name", "not_null", "number", "source", "table")

    def __init__(self, source: int, number: int, name: str = "", affinity: str | None = None, collation: str | None = None,
                 not_null: bool = False, table: Table | None = None) -> None:
        self.affinity = affinity
        self.collation = collation
        self.explicit = False
        self.source = source
        self.number = number
        self.name = name
        self.not_null = not_null
        self.table = table

    def key(self) -> tuple[Any, ...]:
        return ("Column", self.source, self.number)


class Unary(Expression):
    """``operator`` is '-', '+', '~' or 'NOT'.  '+' does nothing but remove the affinity."""

    __slots__ = ("operand", "operator")
    CHILD = ("operand",)

    def __init__(self, operator: str, operand: Expression) -> None:
        super().__init__()
        self.operator = operator
        self.operand = operand


class Binary(Expression):
    """``operator`` is one of + - * / % || & | << >> -> ->> ."""

    __slots__ = ("left", "operator", "right")
    CHILD = ("left", "right")

    def __init__(self, operator: str, left: Expression, right: Expression) -> None:
        super().__init__()
        self.operator = operator
        self.left = left
        self.right = right


class Compare(Expression):
    """``operator``: = <> < <= > >= IS 'IS NOT'.  ``applied`` is the affinity to apply to both operands before comparing (NUMERIC or TEXT
    or None), ``using`` the collation name to compare text with."""

    __slots__ = ("applied", "left", "operator", "right", "using")
    CHILD = ("left", "right")

    def __init__(self, operator: str, left: Expression, right: Expression, applied: str | None = None, using: str = "BINARY") -> None:
        super().__init__()
        self.operator = operator
        self.left = left
        self.right = right
        self.applied = applied
        self.using = using


class RowCompare(Expression):
    """Row values: ``left`` and ``right`` are tuples of expressions of equal length, compared with ``comparisons[i]`` (Compare nodes of
    operator '=' that carry affinity and collation of each pair)."""

    __slots__ = ("comparisons", "operator")
    CHILDREN = ("comparisons",)

    def __init__(self, operator: str, comparisons: tuple[Compare, ...]) -> None:
        super().__init__()
        self.operator = operator
        self.comparisons = comparisons


class And(Expression):
    """N-ary AND, left to right, three-valued."""

    __slots__ = ("operands",)
    CHILDREN = ("operands",)

    def __init__(self, operands: tuple[Expression, ...]) -> None:
        super().__init__()
        self.operands = operands


class Or(Expression):
    """N-ary OR, left to right, three-valued."""

    __slots__ = ("operands",)
    CHILDREN = ("operands",)

    def __init__(self, operands: tuple[Expression, ...]) -> None:
        super().__init__()
        self.operands = operands


class IsNull(Expression):
    """``x IS NULL`` / ``x IS NOT NULL`` (also ISNULL, NOTNULL)."""

    __slots__ = ("negated", "operand")
    CHILD = ("operand",)

    def __init__(self, operand: Expression, negated: bool) -> None:
        super().__init__()
        self.operand = operand
        self.negated = negated


class IsTruth(Expression):
    """``x IS [NOT] TRUE`` / ``x IS [NOT] FALSE``: ``wanted`` True or False, ``negated`` for IS NOT."""

    __slots__ = ("negated", "operand", "wanted")
    CHILD = ("operand",)

    def __init__(self, operand: Expression, wanted: bool, negated: bool) -> None:
        super().__init__()
        self.operand = operand
        self.wanted = wanted
        self.negated = negated


class Between(Expression):
    """``operand`` evaluated once; ``low`` is the Compare '>=' and ``high`` the Compare '<=', both with ``operand`` as left side."""

    __slots__ = ("high", "low", "negated")
    CHILD = ("low", "high")          # the operand appears in both; emitters evaluate it once

    def __init__(self, operand: Expression, low: Compare, high: Compare, negated: bool) -> None:
        super().__init__()
        assert low.left is operand and high.left is operand
        self.low = low
        self.high = high
        self.negated = negated

    @property
    def operand(self) -> Expression:
        """What is compared with both bounds."""
        return self.low.left

    def key(self) -> tuple[Any, ...]:
        high = self.high
        return ("Between", self.negated, self.low.key(), high.operator, high.right.key(), high.applied, high.using)


class InList(Expression):
    """``operand [NOT] IN (items)``; ``applied`` affinity is applied to operand and items, ``using`` the collation."""

    __slots__ = ("applied", "items", "negated", "operand", "using")
    CHILD = ("operand",)
    CHILDREN = ("items",)

    def __init__(self, operand: Expression, items: tuple[Expression, ...], negated: bool, applied: str | None, using: str) -> None:
        super().__init__()
        self.operand = operand
        self.items = items
        self.negated = negated
        self.applied = applied
        self.using = using


class InSubquery(Expression):
    """``(operands) [NOT] IN (SELECT ...)``: one affinity and collation per operand."""

    __slots__ = ("applied", "negated", "operands", "subquery", "using")
    CHILDREN = ("operands",)

    def __init__(self, operands: tuple[Expression, ...], subquery: Subquery, negated: bool,
                 applied: tuple[str | None, ...], using: tuple[str, ...]) -> None:
        super().__init__()
        self.operands = operands
        self.subquery = subquery
        self.negated = negated
        self.applied = applied
        self.using = using


class Exists(Expression):
    """``EXISTS (SELECT ...)``; NOT EXISTS is Unary NOT of it."""

    __slots__ = ("subquery",)

    def __init__(self, subquery: Subquery) -> None:
        super().__init__()
        self.subquery = subquery


class ScalarSubquery(Expression):
    """Column ``number`` of the first row of a sub-query, NULL when it has none (row values share one Subquery)."""

    __slots__ = ("number", "subquery")

    def __init__(self, subquery: Subquery, number: int = 0) -> None:
        super().__init__()
        self.subquery = subquery
        self.number = number


class Case(Expression):
    """``whens`` are conditions (already comparisons when the CASE has a base expression), ``thens`` results, ``otherwise`` or None.

    With a base expression ``base`` is set and each when is ``Compare('=', base, value)``: the base is evaluated once."""

    __slots__ = ("base", "otherwise", "thens", "whens")
    CHILD = ("otherwise",)
    CHILDREN = ("whens", "thens")

    def __init__(self, base: Expression | None, whens: tuple[Expression, ...], thens: tuple[Expression, ...], otherwise: Expression | None) -> None:
        super().__init__()
        self.base = base
        self.whens = whens
        self.thens = thens
        self.otherwise = otherwise


class Cast(Expression):
    """CAST to the affinity ``target``."""

    __slots__ = ("operand", "target")
    CHILD = ("operand",)

    def __init__(self, operand: Expression, target: str) -> None:
        super().__init__()
        self.operand = operand
        self.target = target
        self.affinity = target
        self.collation = operand.collation


class Collate(Expression):
    """``operand COLLATE name``."""

    __slots__ = ("operand",)
    CHILD = ("operand",)

    def __init__(self, operand: Expression, collation: str) -> None:
        super().__init__()
        self.operand = operand
        self.affinity = operand.affinity
        self.collation = collation
        self.explicit = True


class Plain(Expression):
    """The value of ``operand`` without the JSON subtype: what a column of a merged sub-query stands for."""

    __slots__ = ("operand",)
    CHILD = ("operand",)

    def __init__(self, operand: Expression) -> None:
        self.operand = operand
        self.affinity = operand.affinity
        self.collation = operand.collation
        self.explicit = operand.explicit


class Stored(Expression):
    """The value of ``operand`` as a column of ``affinity`` stores it."""

    __slots__ = ("operand",)
    CHILD = ("operand",)

    def __init__(self, operand: Expression, affinity: str | None) -> None:
        self.operand = operand
        self.affinity = affinity
        self.collation = None
        self.explicit = False


class Call(Expression):
    """A scalar function.  ``function`` is the registry's entry; ``using`` the collation for functions that compare (min, max, nullif).
    LIKE, GLOB, REGEXP and MATCH are calls with ``operator`` set and the pattern as first argument; coalesce, ifnull, iif, nullif, likely ... are calls
    too: emitters special-case them by ``function.name``."""

    __slots__ = ("arguments", "function", "operator", "using")
    CHILDREN = ("arguments",)

    def __init__(self, function: ScalarFunction, arguments: tuple[Expression, ...], using: str = "BINARY", operator: str | None = None) -> None:
        super().__init__()
        self.function = function
        self.arguments = arguments
        self.using = using
        self.operator = operator


class AggregateCall(Expression):
    """An aggregate in a query block's result list, HAVING or ORDER BY.  Lowering replaces it by a Column of the Aggregate node's output.

    ``owner`` identifies the block it belongs to: an aggregate written in a sub-query may belong to an enclosing query."""

    __slots__ = ("arguments", "condition", "distinct", "function", "owner", "star", "using")
    CHILD = ("condition",)
    CHILDREN = ("arguments",)

    def __init__(self, function: AggregateFunction, arguments: tuple[Expression, ...], distinct: bool = False,
                 condition: Expression | None = None, using: str = "BINARY", star: bool = False) -> None:
        super().__init__()
        self.function = function
        self.arguments = arguments
        self.distinct = distinct
        self.condition = condition          # FILTER (WHERE ...)
        self.using = using                  # collation of DISTINCT and of min/max
        self.star = star
        self.owner = 0


class OrderTerm:
    """One ORDER BY term: ``expression``, ``descending``, ``nulls_last`` (None = the default: first when ascending), ``collation`` name."""

    __slots__ = ("collation", "descending", "expression", "nulls_last")

    def __init__(self, expression: Expression, descending: bool = False, nulls_last: bool | None = None, collation: str = "BINARY") -> None:
        self.expression = expression
        self.descending = descending
        self.nulls_last = nulls_last
        self.collation = collation

    def __repr__(self) -> str:
        return f"OrderTerm({self.expression!r}, descending={self.descending}, nulls_last={self.nulls_last}, {self.collation})"

    def key(self) -> tuple[Any, ...]:
        return (self.expression.key(), self.descending, self.nulls_last, self.collation)


class Frame:
    """A window frame: ``unit`` ROWS | RANGE | GROUPS; bounds are ('UNBOUNDED PRECEDING' | 'PRECEDING' | 'CURRENT ROW' | 'FOLLOWING' |
    'UNBOUNDED FOLLOWING', expression or None); ``exclude`` None | 'NO OTHERS' | 'CURRENT ROW' | 'GROUP' | 'TIES'
    (a written NO OTHERS means the same rows as None, but every frame is then aggregated anew)."""

    __slots__ = ("end", "exclude", "start", "unit")

    def __init__(self, unit: str = "RANGE", start: tuple[str, Expression | None] = ("UNBOUNDED PRECEDING", None),
                 end: tuple[str, Expression | None] = ("CURRENT ROW", None), exclude: str | None = None) -> None:
        self.unit = unit
        self.start = start
        self.end = end
        self.exclude = exclude

    def key(self) -> tuple[Any, ...]:
        return (self.unit, self.start[0], _key_part(self.start[1]), self.end[0], _key_part(self.end[1]), self.exclude)


class Window:
    """A window definition: partition expressions (with collations), order terms and frame; equal ``key()`` share one pass."""

    __slots__ = ("frame", "order", "partition")

    def __init__(self, partition: tuple[Expression, ...], order: tuple[OrderTerm, ...], frame: Frame) -> None:
        self.partition = partition
        self.order = order
        self.frame = frame

    def key(self) -> tuple[Any, ...]:
        return (tuple(_key_part(part) for part in self.partition), tuple(term.key() for term in self.order), self.frame.key())


class WindowCall(Expression):
    """A window function (or an aggregate used as one).  Lowering replaces it by a Column of the Window node's output.

    ``repeats``: the position of the result column, with a function of the main window, that ORDER BY names: SQLite computes it once more for that, in a
    pass of its own; else -1."""

    __slots__ = ("arguments", "condition", "function", "repeats", "star", "using", "window")
    CHILD = ("condition",)
    CHILDREN = ("arguments",)

    def __init__(self, function: Any, arguments: tuple[Expression, ...], window: Window, condition: Expression | None = None,
                 using: str = "BINARY", star: bool = False) -> None:
        super().__init__()
        self.function = function
        self.arguments = arguments
        self.window = window
        self.condition = condition
        self.using = using
        self.star = star
        self.repeats = -1

    def key(self) -> tuple[Any, ...]:
        return ("WindowCall", id(self.function), _key_part(self.arguments), _key_part(self.condition), self.window.key(), self.using, self.star,
                self.repeats)


class Raise(Expression):
    """RAISE(action, message) in a trigger program: action IGNORE | ROLLBACK | ABORT | FAIL."""

    __slots__ = ("action", "message")

    def __init__(self, action: str, message: str | None) -> None:
        super().__init__()
        self.action = action
        self.message = message


class Subquery:
    """A query nested in an expression: the logical ``query`` until lowering sets ``plan`` (a physical node).

    ``number`` is the per-statement SELECT number (EXPLAIN QUERY PLAN prints it); ``outer`` are the columns of enclosing queries that it refers to:
    empty = uncorrelated, evaluated once per statement run and remembered in the activation under ``slot``.  ``kind``: 'scalar', 'EXISTS' or 'IN'.
    ``is_correlated``: as written it refers to enclosing queries, even if rewriting has put constants there."""

    __slots__ = ("is_correlated", "kind", "number", "outer", "plan", "query", "slot")

    def __init__(self, query: Any, number: int, slot: int) -> None:
        self.query = query
        self.number = number
        self.slot = slot
        self.kind = "scalar"
        self.plan: Any = None
        self.outer: tuple[Column, ...] = ()
        self.is_correlated = False


def columns_in(nodes: Iterable[Expression]) -> Iterator[Column]:
    """The columns among nodes, and those that sub-queries among them take from outside."""
    for node in nodes:
        if isinstance(node, Column):
            yield node
        else:
            subquery = getattr(node, "subquery", None)
            if subquery is not None:
                yield from subquery.outer


def columns_of(expression: Expression) -> set[tuple[int, int]]:
    """All (source, number) that an expression reads, those read inside its sub-queries (their outer references) included."""
    return {(column.source, column.number) for column in columns_in(expression.walk())}


def sources_of(expression: Expression) -> set[int]:
    """The sources that an expression reads."""
    return {source for source, _ in columns_of(expression)}


def without_fixed_columns(expression: Expression) -> Expression:
    """The expression with the constants of constant propagation in place of their columns."""
    return expression.replace(lambda node: node.value if type(node) is FixedColumn else None)


BINARY = "BINARY"


def applied_affinity(left: Any, right: Any) -> Any:
    """What is applied to both operands of a comparison: NUMERIC, TEXT or None."""
    if left is not None and right is not None:
        return NUMERIC if left >= NUMERIC or right >= NUMERIC else None
    one = left if left is not None else right
    return simple_affinity(one)


def simple_affinity(affinity: Any) -> Any:
    """The affinity as a comparison applies it: all numeric ones alike, BLOB as none."""
    if affinity is None or affinity == BLOB:
        return None
    return NUMERIC if affinity >= NUMERIC else TEXT


def pair_collation(left: Expression, right: Expression) -> str:
    """The collation with which two operands are compared."""
    if left.explicit:
        return left.collation or BINARY
    if right.explicit:
        return right.collation or BINARY
    return left.collation or right.collation or BINARY


def compare(operator: str, left: Expression, right: Expression) -> Compare:
    """``left operator right`` with its affinity and collation."""
    return inherit(Compare(operator, left, right, applied_affinity(left.affinity, right.affinity), pair_collation(left, right)), left, right)


def inherit(node: Any, *operands: Expression) -> Any:
    """Give a new node the collation of the left-most operand with an explicit COLLATE inside."""
    for operand in operands:
        if operand.explicit:
            node.collation = operand.collation
            node.explicit = True
            break
    return node
