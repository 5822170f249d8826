"""Binding expressions: AST in, bound expression out, every name resolved, affinity and collation set.

``bind_expression(node, scope)`` gives one value; a row value or a wide sub-select in its place is an error.  ``bind_operand`` may also give a
:class:`~sqlvec.plan.scope.Row`, which comparisons and IN take apart.  Left-deep operator chains are bound in a loop, since they may be 1,000 deep.

Errors come in the order of the text, arguments of a function before the function itself is judged (what the real one reports).

Follows "SQL Language Expressions" and "Row Values" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.expr import bound
from sqlvec.expr.bound import BINARY, applied_affinity, compare, inherit, pair_collation, simple_affinity
from sqlvec.parse import ast
from sqlvec.plan.scope import Row, resolve_column, resolve_in_first
from sqlvec.resolve import resolve
from sqlvec.schema.catalog import fold
from sqlvec.values.affinity import NUMERIC, affinity_of_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlvec.expr.bound import Expression
    from sqlvec.plan.scope import Scope

_COMPARISONS = frozenset(("=", "!=", "<", "<=", ">", ">=", "IS", "IS NOT"))
_WIDE = frozenset((ast.RowValue, ast.ScalarSelect))
_COMMUTED_OPERATOR = {"!=": "<>"}


def bind_expression(node: ast.Node, scope: Scope) -> Expression:
    """Bind an expression that must be a single value."""
    found = _BINDERS[type(node)](node, scope)
    if type(found) is Row:
        raise misused(found)
    return found


def bind_operand(node: ast.Node, scope: Scope) -> Expression:
    """Bind an expression that may be a row value."""
    return _BINDERS[type(node)](node, scope)


def bind_all(nodes: list[ast.Node], scope: Scope) -> tuple[Expression, ...]:
    return tuple([bind_expression(node, scope) for node in nodes])


# --- leaves ------------------------------------------------------------------------------------------------------------------------------


def _literal(node: ast.Literal, scope: Scope) -> Expression:
    if node.kind == "hex_too_big":
        raise errors.hex_literal_too_big(node.value, scope.binding.offset(node))
    return bound.Literal(int(node.value) if type(node.value) is bool else node.value)


def _parameter(node: ast.Parameter, scope: Scope) -> Expression:
    if scope.restriction is not None:
        raise errors.prohibited("parameters", scope.restriction, scope.binding.offset(node))
    return bound.Parameter(node.number)


def _current_time(node: ast.CurrentTime, scope: Scope) -> Expression:
    if scope.restriction is not None and scope.restriction != "CHECK constraints":
        raise errors.prohibited("non-deterministic functions", scope.restriction, scope.binding.offset(node))
    return bound.Call(scope.binding.context.functions.lookup(node.kind.lower(), 0), ())


def _raise(node: ast.Raise, scope: Scope) -> Expression:
    if not scope.binding.in_trigger:
        raise errors.raise_outside_trigger()
    return bound.Raise(node.action, node.message)


# --- operators -----------------------------------------------------------------------------------------------------------------------------


def _unary(node: ast.Unary, scope: Scope) -> Expression:
    depth = 0
    operators = []
    inner: ast.Node = node
    while type(inner) is ast.Unary:
        operators.append(inner.op)
        inner = inner.operand
        depth += 1
    found = bind_expression(inner, scope)
    for operator in reversed(operators):
        made = bound.Unary(operator, found)
        if operator == "+":
            made.collation = found.collation
            made.explicit = found.explicit
        else:
            inherit(made, found)
        found = made
    return found


def _binary(node: ast.Binary, scope: Scope) -> Expression:
    """A left-deep chain, from its left-most operand upwards."""
    chain = [node]
    while type(chain[-1].left) is ast.Binary:
        chain.append(chain[-1].left)
    for link in chain:
        if type(link.left) in _WIDE or type(link.right) in _WIDE:
            _check_widths(link, scope)
    left = bind_operand(chain[-1].left, scope)
    for link in reversed(chain):
        left = _binary_step(link, left, scope)
    return left


def _binary_step(node: ast.Binary, left: Expression, scope: Scope) -> Expression:
    operator = node.op
    if type(left) is Row and operator in _COMPARISONS and (type(node.left) is ast.Collate or type(node.right) in (ast.Unary, ast.Collate)):
        raise errors.row_value_misused()
    right = bind_operand(node.right, scope)
    if operator in _COMPARISONS:
        if operator in ("IS", "IS NOT") and _is_truth_name(node.right, right):
            _single(left)
            while type(right) is bound.Collate:
                right = right.operand
            return inherit(bound.IsTruth(left, bool(right.value), operator == "IS NOT"), left)  # type: ignore[attr-defined]
        if scope.counts_stars and type(left) is not type(right):
            _single(left, right)
        if type(right) is Row and type(left) is not Row:
            raise errors.row_value_misused(scope.binding.operand_offset(node.left))
        return compare_operands(_COMMUTED_OPERATOR.get(operator, operator), left, right, scope)
    _single(left, right)
    return inherit(bound.Binary(operator, left, right), left, right)


def _check_widths(node: ast.Binary, scope: Scope) -> None:
    """Refuse a comparison of row values of different widths, before any of their names is looked at."""
    if node.op in _COMPARISONS:
        _check_same_width(node.left, node.right, scope)


def _check_same_width(left: ast.Node, right: ast.Node, scope: Scope) -> None:
    widths = _written_width(left, scope), _written_width(right, scope)
    if widths[0] != widths[1] and None not in widths:
        raise errors.row_value_misused(scope.binding.operand_offset(left))


def _written_width(node: ast.Node, scope: Scope) -> int | None:
    """The number of values that an operand is seen to have before names are resolved; None where a star hides it.  UPDATE, DELETE and INSERT count
    a star in the expressions of their own as one value."""
    if type(node) is ast.RowValue:
        return len(node.items)
    if type(node) is not ast.ScalarSelect:
        return 1
    body = node.select.body
    core = body.cores[-1] if type(body) is ast.Compound else body
    if type(core) is ast.Values:
        return len(core.rows[0])
    columns = core.columns  # type: ignore[union-attr]
    return None if not scope.counts_stars and any(type(column) is not ast.ResultColumn for column in columns) else len(columns)


def _single(*operands: Expression) -> None:
    """Refuse row values; sub-queries are the first to be complained of."""
    rows = [operand for operand in operands if type(operand) is Row]
    if rows:
        raise misused(next((row for row in rows if row.is_query), rows[0]))


def misused(row: Row) -> Exception:
    """The error of a row value or wide sub-select where one value must stand."""
    return errors.subselect_columns(len(row.items), 1) if row.is_query else errors.row_value_misused()


def _is_truth_name(node: ast.Node, found: Expression) -> bool:
    while type(node) is ast.Collate:
        node = node.operand
    if type(node) is ast.Literal and type(node.value) is bool:
        return True     # what the parser makes of ``x [NOT] IN ()``
    while type(found) is bound.Collate:
        found = found.operand
    return (type(node) is ast.ColumnRef and node.table is None and not node.column.quoted and fold(node.column.text) in ("true", "false")
            and type(found) is bound.Literal)


def compare_operands(operator: str, left: Expression, right: Expression, scope: Scope) -> Expression:
    """A comparison of single values or of row values."""
    if type(left) is Row or type(right) is Row:
        kind = "IS" if operator in ("IS", "IS NOT") else "="
        return bound.RowCompare(operator, tuple([_checked(compare(kind, a, b), scope) for a, b in _pairs(left, right)]))
    return _checked(compare(operator, left, right), scope)


def _pairs(left: Expression, right: Expression) -> list[tuple[Expression, Expression]]:
    """The pairs that a comparison of row values compares."""
    if type(left) is not Row or type(right) is not Row or len(left.items) != len(right.items):
        raise errors.row_value_misused()
    pairs = list(zip(left.items, right.items, strict=True))
    for pair in pairs:
        _single(*pair)
    return pairs


def _checked(comparison: bound.Compare, scope: Scope) -> bound.Compare:
    if comparison.using != BINARY:
        scope.binding.need_collation(comparison.using)
    return comparison


def _nary(node: ast.Nary, scope: Scope) -> Expression:
    operands = bind_all(node.operands, scope)
    if node.op == "||":
        return _concatenation(operands)
    flat: list[Expression] = []
    kind = bound.And if node.op == "AND" else bound.Or
    for operand in operands:
        if type(operand) is kind:
            flat.extend(operand.operands)  # type: ignore[attr-defined]
        else:
            flat.append(operand)
    return inherit(kind(tuple(flat)), *operands)


def _concatenation(operands: tuple[Expression, ...]) -> Expression:
    """``a || b || ...``: left-deep while short, balanced when long, so that depth stays small."""
    if len(operands) == 1:
        return operands[0]
    middle = len(operands) - 1 if len(operands) <= 16 else len(operands) // 2
    left = _concatenation(operands[:middle])
    right = _concatenation(operands[middle:])
    return inherit(bound.Binary("||", left, right), left, right)


def _between(node: ast.Between, scope: Scope) -> Expression:
    if type(node.operand) in _WIDE or type(node.low) in _WIDE or type(node.high) in _WIDE:
        _check_same_width(node.operand, node.low, scope)
        _check_same_width(node.operand, node.high, scope)
    operand = bind_operand(node.operand, scope)
    low = bind_operand(node.low, scope)
    high = bind_operand(node.high, scope)
    if any(type(part) is Row for part in (operand, low, high)):
        if type(operand) is not Row:
            if scope.counts_stars:
                _single(operand, low, high)
            raise errors.row_value_misused(scope.binding.operand_offset(node.operand))
        both = bound.And((compare_operands(">=", operand, low, scope), compare_operands("<=", operand, high, scope)))
        return bound.Unary("NOT", both) if node.negated else both
    made = bound.Between(operand, _checked(compare(">=", operand, low), scope), _checked(compare("<=", operand, high), scope), node.negated)
    return inherit(made, operand, low, high)


def _is_null(node: ast.IsNull, scope: Scope) -> Expression:
    operand = bind_expression(node.operand, scope)
    if isinstance(operand, bound.Column) and operand.not_null:      # decided here, as the real one does: the planner sees a constant
        decided = bound.Literal(int(node.negated))
        decided.collation = BINARY              # tells it from a 0 in the text, which makes a whole AND false
        return decided
    return inherit(bound.IsNull(operand, node.negated), operand)


def _case(node: ast.Case, scope: Scope) -> Expression:
    base = bind_operand(node.base, scope) if node.base is not None else None
    whens: list[Expression] = []
    thens: list[Expression] = []
    for condition, result in node.whens:
        if base is None:
            whens.append(bind_expression(condition, scope))
        else:
            whens.append(compare_operands("=", base, bind_operand(condition, scope), scope))
        thens.append(bind_expression(result, scope))
    otherwise = bind_expression(node.else_, scope) if node.else_ is not None else None
    if type(base) is Row:
        base = None
    made = bound.Case(base, tuple(whens), tuple(thens), otherwise)
    parts: list[Expression] = []
    for when, then in zip(whens, thens, strict=True):
        parts += [when.right if base is not None else when, then]  # type: ignore[attr-defined]
    return inherit(made, *([base] if base is not None else []), *parts, *([otherwise] if otherwise is not None else []))


def _cast(node: ast.Cast, scope: Scope) -> Expression:
    operand = bind_expression(node.operand, scope)
    made = bound.Cast(operand, affinity_of_type(node.type_name) if node.type_name else NUMERIC)  # type: ignore[arg-type]
    made.explicit = operand.explicit
    return made


def _collate(node: ast.Collate, scope: Scope) -> Expression:
    operand = bind_operand(node.operand, scope)
    if type(operand) is Row:
        return operand
    return bound.Collate(operand, node.collation.text)


def _like(node: ast.Like, scope: Scope) -> Expression:
    """LIKE, GLOB, REGEXP, MATCH are function calls with the pattern first."""
    operand = bind_expression(node.operand, scope)
    pattern = bind_expression(node.pattern, scope)
    arguments = [pattern, operand]
    if node.escape is not None:
        arguments.append(bind_expression(node.escape, scope))
    name = node.op.lower()
    functions = scope.binding.context.functions
    function = _overloaded(name, operand, scope) or functions.lookup(name, len(arguments))
    if scope.binding.context.authorize is not None and resolve("sqlvec.plan.authorize:is_ignored")(name, scope.binding):
        return bound.Literal(None)
    if function is None:
        offset = scope.binding.offset(node)
        raise errors.wrong_argument_count(name, offset) if functions.knows(name) else errors.no_such_function(node.op, offset)
    call = inherit(bound.Call(function, tuple(arguments), operator=node.op), *arguments)
    return bound.Unary("NOT", call) if node.negated else call


def _overloaded(name: str, first: Expression, scope: Scope) -> Any:
    """A function that the virtual table of a column argument provides instead (MATCH ...)."""
    if type(first) is bound.Column and first.table is not None and first.table.kind == "virtual":
        connect = scope.binding.context.connect_vtab
        instance = connect(first.table.database, first.table.name) if connect is not None else None
        if instance is not None:
            return instance.find_function(name, 2)
    return None


# --- IN --------------------------------------------------------------------------------------------------------------------------------------


def _in_list(node: ast.InList, scope: Scope) -> Expression:
    if not node.items:
        return bound.Literal(1 if node.negated else 0)
    if type(node.operand) is ast.RowValue:
        expected = len(node.operand.items)
        for element in node.items:
            width = len(element.items) if type(element) is ast.RowValue else 1
            if width != expected:
                raise errors.in_element_terms(width, expected)
    operand = bind_operand(node.operand, scope)
    items = [bind_operand(item, scope) for item in node.items]
    if type(operand) is Row:
        if operand.is_query:
            _single(operand, *[item for item in items if type(item) is not Row])
        return _row_in_list(operand, items, node.negated, scope)
    if len(items) == 1 and is_plain_constant(node.items[0]):
        item = items[0]
        _single(item)
        plus = bound.Unary("+", item)
        plus.collation, plus.explicit = item.collation, item.explicit
        same = compare_operands("=", operand, plus, scope)
        return bound.Unary("NOT", same) if node.negated else same
    for item in items:
        _single(item)
    using = scope.binding.need_collation(operand.collation or BINARY)
    made = bound.InList(operand, tuple(items), node.negated, simple_affinity(operand.affinity), using)
    return inherit(made, operand, *items)


def _row_in_list(operand: Row, items: list[Expression], negated: bool, scope: Scope) -> Expression:
    """``(a, b) IN ((1, 2), ...)``: any of the row comparisons."""
    width = len(operand.items)
    comparisons = []
    for item in items:
        parts = item.items if type(item) is Row else (item,)
        for part in (*operand.items, *parts):
            _single(part)
        if len(parts) != width:
            raise errors.in_element_terms(len(parts), width)
        pairs = []
        for left, right in zip(operand.items, parts, strict=True):
            pair = bound.Compare("=", left, right, simple_affinity(left.affinity), left.collation or BINARY)
            pairs.append(_checked(pair, scope))
        comparisons.append(bound.RowCompare("=", tuple(pairs)))
    found: Expression = comparisons[0] if len(comparisons) == 1 else bound.Or(tuple(comparisons))
    return bound.Unary("NOT", found) if negated else found


def is_plain_constant(node: ast.Node) -> bool:
    """A constant in the parser's eyes: no names, functions or sub-queries (TRUE and FALSE count)."""
    stack = [node]
    while stack:
        part = stack.pop()
        kind = type(part)
        if kind is ast.ColumnRef:
            if part.table is not None or part.column.quoted or fold(part.column.text) not in ("true", "false"):  # type: ignore[attr-defined]
                return False
        elif kind in _CONSTANT_KINDS:
            stack.extend(resolve("sqlvec.schema.from_ast:children_in_order")(part))
        elif kind is not ast.Name:
            return False
    return True


_CONSTANT_KINDS = frozenset((ast.Literal, ast.Parameter, ast.Unary, ast.Binary, ast.Nary, ast.Cast, ast.Collate, ast.Case, ast.IsNull, ast.Between,
                             ast.InList))


def _in_select(node: ast.InSelect, scope: Scope) -> Expression:
    operand = bind_operand(node.operand, scope)
    subquery = resolve("sqlvec.plan.subquery:bind_subquery")(node.select, scope, "IN")
    return in_subquery(operand, subquery, node.negated, scope)


def _in_table(node: ast.InTable, scope: Scope) -> Expression:
    operand = bind_operand(node.operand, scope)
    subquery = resolve("sqlvec.plan.subquery:bind_table_subquery")(node, scope)
    return in_subquery(operand, subquery, node.negated, scope)


def in_subquery(operand: Expression, subquery: bound.Subquery, negated: bool, scope: Scope) -> Expression:
    """``operand IN (subquery)`` with the comparison rules of each pair."""
    operands = operand.items if type(operand) is Row else (operand,)
    results = subquery.query.results()
    if len(results) != len(operands):
        raise errors.subselect_columns(len(results), len(operands))
    for part in operands:
        _single(part)
    applied = tuple([applied_affinity(left.affinity, right.affinity) for left, right in zip(operands, results, strict=True)])
    using = tuple([scope.binding.need_collation(pair_collation(left, right)) for left, right in zip(operands, results, strict=True)])
    return inherit(bound.InSubquery(operands, subquery, negated, applied, using), *operands)


# --- sub-queries and row values --------------------------------------------------------------------------------------------------------------


def _exists(node: ast.Exists, scope: Scope) -> Expression:
    return bound.Exists(resolve("sqlvec.plan.subquery:bind_subquery")(node.select, scope, "EXISTS"))


def _column_collation(result: Expression) -> str | None:
    """The collation that an element of a row-valued sub-query compares with: also that of a column behind a plus."""
    while type(result) is bound.Unary and result.operator == "+":
        result = result.operand
    return result.collation


def _scalar_select(node: ast.ScalarSelect, scope: Scope) -> Expression:
    subquery = resolve("sqlvec.plan.subquery:bind_subquery")(node.select, scope, "scalar")
    results = subquery.query.results()
    made = []
    for number, result in enumerate(results):
        value = bound.ScalarSubquery(subquery, number)
        value.affinity = result.affinity
        if len(results) > 1:
            value.collation = _column_collation(result)
        made.append(value)
    return made[0] if len(made) == 1 else Row(tuple(made), True)


def _row_value(node: ast.RowValue, scope: Scope) -> Expression:
    return Row(tuple([bind_operand(item, scope) for item in node.items]))


def _function_call(node: ast.FunctionCall, scope: Scope) -> Expression:
    return resolve("sqlvec.plan.function_call:bind_call")(node, scope)  # type: ignore[no-any-return]


class TargetColumn(ast.ColumnRef):
    """A column of the table that UPDATE or DELETE changes: the first source, even if another one has the same name.  Nobody wrote it: no authorizer
    is asked about it."""

    __slots__ = ()
    is_target = True


_BINDERS: dict[type, Callable[[Any, Scope], Expression]] = {
    ast.Literal: _literal,
    ast.ColumnRef: resolve_column,
    TargetColumn: resolve_in_first,
    ast.Parameter: _parameter,
    ast.Binary: _binary,
    ast.Unary: _unary,
    ast.Nary: _nary,
    ast.FunctionCall: _function_call,
    ast.Between: _between,
    ast.InList: _in_list,
    ast.InSelect: _in_select,
    ast.InTable: _in_table,
    ast.Like: _like,
    ast.IsNull: _is_null,
    ast.Case: _case,
    ast.Cast: _cast,
    ast.Collate: _collate,
    ast.Exists: _exists,
    ast.ScalarSelect: _scalar_select,
    ast.RowValue: _row_value,
    ast.CurrentTime: _current_time,
    ast.Raise: _raise,
}
