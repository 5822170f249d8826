"""The WHERE clause as the planner sees it: a list of AND-terms, each classified, followed by the terms derived from them.

A :class:`Term` that an index could serve has a *left* (a column, or an expression of an expression index) with its source, an operator
bit and the set of FROM items that its other side needs.  Bit sets of FROM positions (``1 << position``) are called *masks*.

Order matters, since it breaks ties of cost: terms are analysed from the last to the first, and derived ("virtual") terms are appended in the
order of their making.  Derived are: the commuted copy of ``column = column``, the two halves of BETWEEN, the range of a LIKE prefix, ``x > NULL`` of
``x IS NOT NULL``, the IN list of an OR over one column, the components of row values.

Invariants
1. ``parent.children`` counts the derived terms that together mean the parent: it need not be checked when all of them are used by an access path.
2. A virtual term is never checked itself.
3. An ON term of an outer join to table T serves only T (its ``right_needs`` contains everything left of T).

Follows "The SQLite Query Optimizer Overview" of the manual, sections 1 to 6.
"""
from __future__ import annotations

from sqlvec.expr.bound import (
    And,
    Between,
    Call,
    Collate,
    Column,
    Compare,
    FixedColumn,
    InList,
    InSubquery,
    IsNull,
    Literal,
    Or,
    RowCompare,
    ScalarSubquery,
)
from sqlvec.plan.access.cost import from_probability
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.expr.bound import Expression
    from sqlvec.plan.access.result import Request
    from sqlvec.plan.logical import Condition, FromItem

EQ, IS, IN, LT, LE, GT, GE, NULL, OR, AND = 1, 2, 4, 8, 16, 32, 64, 128, 256, 512
EQUAL = EQ | IS
LOWER = GT | GE
UPPER = LT | LE
INDEXABLE = EQ | IS | IN | LT | LE | GT | GE | NULL

OPERATOR = {"=": EQ, "IS": IS, "<": LT, "<=": LE, ">": GT, ">=": GE}
COMMUTED = {"=": "=", "IS": "IS", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

NO_SOURCE = -99
ROWID = -1
EXPRESSION = -2
_EQUIVALENTS = 11
_HINTS = {"likely": 0.9375, "unlikely": 0.0625}


class Term:
    """One term.  ``hint`` is the LogEst of a likelihood() (<= 0) or 1.  ``number`` is the operand of a row-value IN.  ``like`` marks the two range
    terms of a LIKE, ``not_null`` the ``x > NULL`` term.  ``equivalent``: column = column that may be followed to find more constraints."""

    __slots__ = ("applied", "children", "clause", "column", "copied", "disjuncts", "equivalent", "expression", "hint", "indexable_by", "inner_on",
                 "is_complete", "left", "left_key", "like", "needs", "not_null", "number", "operator", "outer_on", "parent", "right", "right_column",
                 "right_needs", "sides", "source", "used", "using", "virtual")

    def __init__(self, expression: Expression, outer_on: int | None, inner_on: int | None, virtual: bool = False) -> None:
        self.hint = 1
        self.expression = expression
        if type(expression) is Call or type(expression) is Collate:
            self.expression = self._unwrap(expression)
        self.outer_on = outer_on
        self.inner_on = inner_on
        self.virtual = virtual
        self.needs = 0
        self.right_needs = 0
        self.source = NO_SOURCE
        self.column = 0
        self.left: Expression | None = None
        self.left_key: Any = None
        self.right: Expression | None = None
        self.right_column: tuple[int, int] | None = None
        self.operator = 0
        self.equivalent = False
        self.applied: str | None = None         # affinity to apply to the value that is searched for
        self.using = "BINARY"
        self.sides: str | None = None           # affinity of the comparison, as an index column must have it
        self.number = 0
        self.parent: Term | None = None
        self.children = 0
        self.copied = False
        self.like = False
        self.not_null = False
        self.is_complete = True                 # the derived terms mean the whole parent (LIKE 'abc%')
        self.disjuncts: Any = None
        self.clause: Any = None                 # AND-group inside an OR
        self.indexable_by = 0
        self.used = False

    def _unwrap(self, expression: Expression) -> Expression:
        while True:
            if isinstance(expression, Collate):
                expression = expression.operand
                continue
            probability = hint_of(expression)
            if probability is None:
                return expression
            self.hint = from_probability(probability)
            expression = expression.arguments[0]  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"Term({self.expression!r}, op={self.operator}, left=({self.source},{self.column}), {self.needs:b}/{self.right_needs:b})"


def hint_of(expression: Expression) -> float | None:
    """The probability that likely(), unlikely() or likelihood() states, None for other expressions."""
    if type(expression) is not Call or not getattr(expression.function, "builtin", True):
        return None
    name = expression.function.name
    if name in _HINTS:
        return _HINTS[name]
    if name == "likelihood" and len(expression.arguments) == 2 and isinstance(expression.arguments[1], Literal):
        return float(expression.arguments[1].value)
    return None


def strip(expression: Expression) -> Expression:
    """The expression without COLLATE and likelihood wrappers."""
    while True:
        if isinstance(expression, Collate):
            expression = expression.operand
        elif type(expression) is Call and hint_of(expression) is not None:
            expression = expression.arguments[0]
        else:
            return expression


def _is_hinted(expression: Expression) -> bool:
    """Does likely() or likelihood() stand around the operand of a comparison?  It hides a column, but not the expression of an index."""
    while isinstance(expression, Collate):
        expression = expression.operand
    return type(expression) is Call and hint_of(expression) is not None


class Scope:
    """The FROM items of a block with their bits, and what their indexes' expressions are.

    ``present`` restricts the bits: items outside it count as constants (the loops around a branch of a multi-index OR)."""

    __slots__ = ("_expressions", "bits", "by_source", "has_right", "items", "present", "request", "rowids")

    def __init__(self, items: list[FromItem], request: Request, present: int = -1) -> None:
        self.items = items
        self.request = request
        self.present = present
        self.bits = {item.source: 1 << position for position, item in enumerate(items) if present >> position & 1}
        self.by_source = {item.source: item for item in items}
        self.rowids = {item.source: item.table.rowid_column for item in items if item.table is not None}
        self.has_right = any(item.right for item in items)
        self._expressions: dict[int, dict[int, list[Expression | None]]] = {}

    def mask(self, expression: Expression | None) -> int:
        """The FROM items that an expression reads."""
        if expression is None:
            return 0
        if type(expression) is Column:
            return self.bits.get(expression.source, 0)
        if type(expression) is Literal:
            return 0
        found = 0
        for node in expression.walk():
            if type(node) is Column:
                found |= self.bits.get(node.source, 0)
            else:
                subquery = getattr(node, "subquery", None)
                if subquery is not None:
                    for column in subquery.outer:
                        found |= self.bits.get(column.source, 0)
        return found

    def column_of(self, expression: Expression) -> tuple[int, int] | None:
        """(source, column number) when the expression is a column; the INTEGER PRIMARY KEY counts as the rowid."""
        expression = strip(expression)
        if type(expression) is FixedColumn:
            expression = expression.column
        if type(expression) is not Column:
            return None
        return expression.source, self.normal(expression)

    def normal(self, column: Column) -> int:
        """The column's number, ROWID for the INTEGER PRIMARY KEY."""
        return ROWID if column.number == self.rowids.get(column.source, ROWID) else column.number

    def index_expressions(self, item: FromItem, index: Any) -> list[Expression | None]:
        """Bound key expressions of an index, None for its plain columns; [] when it has plain columns only."""
        of_item = self._expressions.get(item.source)
        if of_item is None:
            of_item = self._expressions[item.source] = {}
        found = of_item.get(id(index))
        if found is None:
            found = []
            if any(column.expression is not None for column in index.columns):
                bind = self.request.bind
                assert bind is not None
                found = [None if column.expression is None else strip(bind(item, column.expression)) for column in index.columns]
            of_item[id(index)] = found
        return found

    def indexed_expression(self, expression: Expression, mask: int) -> tuple[int, Any] | None:
        """(source, key) when the expression is a key of an expression index of the only table it reads."""
        if mask == 0 or mask & (mask - 1):
            return None
        item = self.items[mask.bit_length() - 1]
        if item.table is None:
            return None
        key = None
        for index in item.table.indexes:
            for candidate in self.index_expressions(item, index):
                if candidate is not None:
                    key = key or strip(expression).key()
                    if candidate.key() == key:
                        return item.source, key
        return None


def comparison_affinity(left: str | None, right: str | None) -> str | None:
    """The affinity of a comparison of operands with these affinities (None: no affinity): 'C' numeric, 'B' text, 'A' none that matters."""
    if left is not None and right is not None:
        return "C" if left >= "C" or right >= "C" else "A"
    return left if left is not None else right


def affinity_fits(sides: str | None, column: str | None) -> bool:
    """May an index over a column of this affinity serve a comparison of affinity ``sides``?"""
    if sides is None or sides < "B":
        return True
    if sides == "B":
        return column == "B"
    return column is not None and column >= "C"


class Clause:
    """A list of terms joined by ``operator``; ``outer`` is the enclosing clause whose terms are visible too (inside OR)."""

    __slots__ = ("_by_source", "base", "has_or", "operator", "outer", "scope", "terms")

    def __init__(self, scope: Scope, operator: str = "AND", outer: Clause | None = None) -> None:
        self.scope = scope
        self.operator = operator
        self.outer = outer
        self.terms: list[Term] = []
        self.base = 0
        self.has_or = False
        self._by_source: dict[int, list[Term]] | None = None

    # --- making ---------------------------------------------------------------------------------------------------------------------

    def split(self, expression: Expression, outer_on: int | None, inner_on: int | None) -> None:
        """Append the AND (or OR) operands of an expression as terms."""
        kind = And if self.operator == "AND" else Or
        inner = strip(expression) if type(expression) in (Call, Collate) else expression
        if isinstance(inner, kind):
            for operand in inner.operands:
                self.split(operand, outer_on, inner_on)
        else:
            self.terms.append(Term(expression, outer_on, inner_on))

    def add_conditions(self, conditions: list[Condition]) -> None:
        for condition in conditions:
            self.split(condition.expression, condition.outer_on, condition.inner_on)

    def analyse(self) -> None:
        """Classify all terms, last to first, and derive more."""
        self.base = len(self.terms)             # number of terms up to the last that isn't virtual
        for position in range(self.base - 1, -1, -1):
            self._analyse(self.terms[position])

    def _derive(self, expression: Expression, parent: Term, virtual: bool = True) -> Term:
        term = Term(expression, parent.outer_on, parent.inner_on, virtual)
        self.terms.append(term)
        if not virtual:
            self.base = len(self.terms)
        return term

    def _child(self, term: Term, parent: Term) -> None:
        term.parent = parent
        parent.children += 1
        term.hint = parent.hint

    def _analyse(self, term: Term) -> None:
        scope = self.scope
        expression = term.expression
        term.needs = scope.mask(expression)
        extra = 0
        if term.outer_on is not None:
            bit = scope.bits.get(term.outer_on, 0)
            term.needs |= bit
            extra = (bit - 1) & scope.present if bit else 0
        kind = type(expression)
        if kind is Compare:
            if expression.operator in OPERATOR:  # type: ignore[attr-defined]
                self._compare(term, expression, expression.left, expression.right, extra)  # type: ignore[arg-type, attr-defined]
        elif kind is InList:
            self._in_list(term, expression, extra)  # type: ignore[arg-type]
        elif kind is InSubquery:
            self._in_subquery(term, expression, extra)  # type: ignore[arg-type]
        elif kind is IsNull:
            self._null_test(term, expression, extra)  # type: ignore[arg-type]
        elif kind is RowCompare:
            self._row_compare(term, expression, extra)  # type: ignore[arg-type]
        elif self.operator == "AND":
            if kind is Between and not expression.negated:  # type: ignore[attr-defined]
                for half in (expression.low, expression.high):  # type: ignore[attr-defined]
                    child = self._derive(half, term)
                    self._analyse(child)
                    self._child(child, term)
            elif kind is Or:
                resolve("sqlvec.plan.access.or_terms:analyse_or")(self, term)
            elif kind is Call and expression.operator in ("LIKE", "GLOB"):  # type: ignore[attr-defined]
                resolve("sqlvec.plan.access.like_range:derive_range")(self, term)

    def _compare(self, term: Term, expression: Compare, left: Expression, right: Expression, extra: int) -> None:
        scope = self.scope
        left_mask = scope.mask(left)
        right_mask = scope.mask(right)
        allowed = not left_mask & right_mask
        term.right_needs = right_mask | extra
        operator = OPERATOR[expression.operator]
        term.applied = expression.applied
        term.using = expression.using
        term.sides = comparison_affinity(left.affinity, right.affinity)
        left_at = self._indexed(left, left_mask)
        right_at = None if type(strip(right)) is FixedColumn else self._indexed(right, right_mask)
        if left_at is not None:
            self._set_left(term, left, right, left_at)
            term.operator = operator if allowed else 0
        if right_at is None:
            return
        new = term
        if left_at is not None:
            new = self._derive(expression, term)
            new.hint = term.hint
            new.parent = term
            term.children += 1
            term.copied = True
            if _is_equivalence(expression, term, left, right):
                term.equivalent = True
                new.equivalent = True
            new.applied = term.applied
            new.using = term.using
            new.sides = term.sides
            new.needs = term.needs
        self._set_left(new, right, left, right_at)
        new.right_needs = left_mask | extra
        new.operator = OPERATOR[COMMUTED[expression.operator]] if allowed else 0

    def _indexed(self, expression: Expression, mask: int) -> tuple[int, int, Any] | None:
        found = None if _is_hinted(expression) else self.scope.column_of(expression)
        if found is not None:
            return found[0], found[1], None
        if type(strip(expression)) is Literal:
            return None
        indexed = self.scope.indexed_expression(expression, mask)
        return None if indexed is None else (indexed[0], EXPRESSION, indexed[1])

    def _set_left(self, term: Term, left: Expression, right: Expression, at: tuple[int, int, Any]) -> None:
        term.source, term.column, term.left_key = at
        term.left = left
        term.right = right
        term.right_column = self.scope.column_of(right)

    def _in_list(self, term: Term, expression: InList, extra: int) -> None:
        if expression.negated or not expression.items:
            return
        left = expression.operand
        left_mask = self.scope.mask(left)
        right_mask = 0
        for item in expression.items:
            right_mask |= self.scope.mask(item)
        at = self._indexed(left, left_mask)
        term.right_needs = right_mask | extra
        if at is None:
            return
        single = len(expression.items) == 1 and is_literal_value(expression.items[0])
        self._set_left(term, left, expression.items[0], at)
        if not single:
            term.right_column = None
            term.right = expression
        if not left_mask & right_mask:
            term.operator = EQ if single else IN
        term.applied = expression.applied
        term.using = expression.using
        term.sides = left.affinity

    def _in_subquery(self, term: Term, expression: InSubquery, extra: int) -> None:
        if expression.negated:
            return
        if len(expression.operands) == 1:
            self._in_component(term, expression, 0, extra)
            return
        query = expression.subquery.query
        is_compound = type(query).__name__ == "Compound" or len(getattr(query, "rows", ())) > 1
        if self.operator != "AND" or is_compound or getattr(query, "windows", None):
            return
        for number in range(len(expression.operands)):
            child = self._derive(expression, term)
            child.number = number
            child.needs = term.needs
            self._in_component(child, expression, number, extra)
            self._child(child, term)

    def _in_component(self, term: Term, expression: InSubquery, number: int, extra: int) -> None:
        left = expression.operands[number]
        left_mask = self.scope.mask(left)
        right_mask = 0
        for column in expression.subquery.outer:
            right_mask |= self.scope.bits.get(column.source, 0)
        term.right_needs = right_mask | extra
        at = self._indexed(left, left_mask)
        if at is None:
            return
        self._set_left(term, left, expression, at)
        if not left_mask & right_mask:
            term.operator = IN
        term.applied = expression.applied[number]
        results = expression.subquery.query.results()
        term.using = expression.using[0]        # as in SQLite, which looks at the first component of a row value only
        term.sides = comparison_affinity(expression.operands[0].affinity, results[0].affinity)

    def _null_test(self, term: Term, expression: IsNull, extra: int) -> None:
        operand = expression.operand
        at = self._indexed(operand, term.needs)
        if expression.negated:
            if self.operator == "AND" and at is not None and at[1] >= 0 and term.outer_on is None \
                    and isinstance(operand, (Column, FixedColumn)):
                child = self._derive(expression, term)
                child.source, child.column = at[0], at[1]
                child.left = operand
                child.right = Literal(None)
                child.operator = GT
                child.needs = term.needs
                child.not_null = True
                child.using = operand.collation or "BINARY"
                child.sides = operand.affinity
                self._child(child, term)
                term.copied = True
            return
        if term.outer_on is None and isinstance(operand, Column) and (operand.not_null or (at is not None and at[1] == ROWID
                                                                                           and self._never_null(at[0]))):
            term.expression = Literal(0)
            term.needs = 0
            return
        term.right_needs = extra
        if at is not None:
            term.source, term.column, term.left_key = at
            term.left = operand
            term.operator = NULL

    def _never_null(self, source: int) -> bool:
        item = self.scope.by_source.get(source)
        return item is not None and item.table is not None and not item.left and not item.left_of_right and not self.scope.has_right

    def _row_compare(self, term: Term, expression: RowCompare, extra: int) -> None:
        comparisons = expression.comparisons
        if expression.operator in ("=", "IS"):
            both_queries = all(isinstance(pair.left, ScalarSubquery) and isinstance(pair.right, ScalarSubquery) for pair in comparisons)
            if self.operator != "AND" or both_queries:
                return
            for pair in comparisons:
                if pair.operator != expression.operator:
                    pair = Compare(expression.operator, pair.left, pair.right, pair.applied, pair.using)
                part = self._derive(pair, term, virtual=False)
                part.parent = term
                self._analyse(part)
            term.virtual = True
            return
        if expression.operator not in OPERATOR:
            return
        lefts = rights = 0
        for pair in comparisons:
            lefts |= self.scope.mask(pair.left)
            rights |= self.scope.mask(pair.right)
        first = comparisons[0]
        for left, right, name, right_mask in ((first.left, first.right, expression.operator, rights),
                                              (first.right, first.left, COMMUTED[expression.operator], lefts)):
            at = self._indexed(left, self.scope.mask(left))
            if at is None:
                continue
            new = term
            if term.source != NO_SOURCE:
                new = self._derive(expression, term)
                self._child(new, term)
                term.copied = True
                new.needs = term.needs
            self._set_left(new, left, right, at)
            new.operator = 0 if lefts & rights else OPERATOR[name]
            new.right_needs = right_mask | extra
            new.applied = first.applied
            new.using = first.using
            new.sides = comparison_affinity(left.affinity, right.affinity)

    # --- searching ------------------------------------------------------------------------------------------------------------------

    def _terms_of(self, source: int) -> list[Term]:
        if self._by_source is None:
            self._by_source = {}
            for term in self.terms:
                if term.source != NO_SOURCE:
                    self._by_source.setdefault(term.source, []).append(term)
        return self._by_source.get(source, [])

    def find(self, source: int, column: int, operators: int, column_affinity: str | None = None, collation: str | None = None,
             key: Any = None) -> Iterator[tuple[Term, bool]]:
        """Terms that constrain a column (or the indexed expression ``key``), with whether one came through an equivalence.

        ``collation`` None: neither affinity nor collation matter (the rowid, or a search that isn't for an index)."""
        columns = [(source, column)]
        at = 0
        while at < len(columns):
            now_source, now_column = columns[at]
            clause: Clause | None = self
            while clause is not None:
                for term in clause._terms_of(now_source):
                    if term.column != now_column or (now_column == EXPRESSION and term.left_key != key):
                        continue
                    if at > 0 and term.outer_on is not None:
                        continue
                    right = term.right_column
                    if term.equivalent and right is not None and len(columns) < _EQUIVALENTS and right not in columns:
                        columns.append(right)
                    if not term.operator & operators:
                        continue
                    if collation is not None and term.operator != NULL and (
                            term.using.upper() != collation or not affinity_fits(term.sides, column_affinity)):
                        continue
                    if term.operator & EQUAL and right is not None and right == columns[0]:
                        continue
                    yield term, at > 0
                clause = clause.outer
            at += 1

    def find_best(self, source: int, column: int, not_ready: int, operators: int) -> Term | None:
        """A term on a column whose other side is ready, a constant one by preference."""
        result = None
        for term, _ in self.find(source, column, operators):
            if term.right_needs & not_ready:
                continue
            if term.right_needs == 0 and term.operator & operators & EQUAL:
                return term
            if result is None:
                result = term
        return result


def _is_equivalence(expression: Compare, term: Term, left: Expression, right: Expression) -> bool:
    if expression.operator not in ("=", "IS") or term.outer_on is not None:
        return False
    one, two = left.affinity or "", right.affinity or ""
    if one != two and not (one >= "C" and two >= "C"):
        return False
    if expression.using.upper() == "BINARY":
        return True
    return (left.collation or "BINARY").upper() == (right.collation or "BINARY").upper()


def is_literal_value(expression: Expression) -> bool:
    """Made of literals, parameters and operators only: what the parser takes for a constant."""
    for node in expression.walk():
        if type(node).__name__ in ("Column", "Call", "AggregateCall", "WindowCall", "ScalarSubquery", "Exists", "InSubquery", "Raise"):
            return False
    return True


def is_constant(expression: Expression) -> bool:
    """Reads no column and calls nothing that may change between rows."""
    for node in expression.walk():
        if isinstance(node, (Column, ScalarSubquery, InSubquery)) or type(node).__name__ in ("Exists", "AggregateCall", "WindowCall"):
            return False
        if isinstance(node, Call) and not getattr(node.function, "deterministic", True):
            return False
    return True


def is_deterministic(expression: Expression) -> bool:
    """Calls nothing that may change between rows, and has no sub-query."""
    return all(getattr(node, "subquery", None) is None and (not isinstance(node, Call) or node.function.deterministic
                                                             or getattr(node.function, "slow_change", False)) for node in expression.walk())
