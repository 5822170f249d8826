"""Window functions: named windows, inheritance between them, checks of frames.

A window definition is bound where it is used; ``WINDOW name AS (...)`` definitions are looked up by name in the query block and may build on each
other.  Functions whose frame is fixed (row_number, rank, ntile, lag ...) get that frame, whatever was written, so that equal definitions share a pass.

Follows "Window Functions" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.expr import bound
from sqlvec.expr.bound import BINARY, inherit
from sqlvec.parse import ast
from sqlvec.plan.expressions import bind_expression, is_plain_constant
from sqlvec.schema.catalog import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.expr.bound import Expression
    from sqlvec.plan.scope import Scope

_ROWS_TO_CURRENT = ("ROWS", "UNBOUNDED PRECEDING", "CURRENT ROW")
_FIXED_FRAMES = {
    "row_number": _ROWS_TO_CURRENT,
    "dense_rank": ("RANGE", "UNBOUNDED PRECEDING", "CURRENT ROW"),
    "rank": ("RANGE", "UNBOUNDED PRECEDING", "CURRENT ROW"),
    "percent_rank": ("GROUPS", "CURRENT ROW", "UNBOUNDED FOLLOWING"),
    "cume_dist": ("GROUPS", "FOLLOWING", "UNBOUNDED FOLLOWING"),
    "ntile": ("ROWS", "CURRENT ROW", "UNBOUNDED FOLLOWING"),
    "lead": ("ROWS", "UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING"),
    "lag": _ROWS_TO_CURRENT,
}
_START_ORDER = {"UNBOUNDED PRECEDING": 0, "PRECEDING": 1, "CURRENT ROW": 2, "FOLLOWING": 3, "UNBOUNDED FOLLOWING": 4}


def bind_window_call(node: ast.FunctionCall, function: Any, scope: Scope) -> Expression:
    """``function(...) OVER (...)``; ``scope`` allows windows here."""
    if node.distinct:
        raise errors.distinct_window()
    if node.filter is not None and function.is_window:
        raise errors.filter_on_window()
    saved = scope.allow_windows
    scope.allow_windows = False
    scope.in_window = True
    try:
        assert node.over is not None
        window = _window(node.over, function, scope)
        arguments = tuple([bind_expression(argument, scope) for argument in node.args])
        condition = bind_expression(node.filter, scope) if node.filter is not None else None
    finally:
        scope.allow_windows = saved
        scope.in_window = False
    using = BINARY
    if arguments and function.uses_collation:
        using = scope.binding.need_collation(arguments[0].collation or BINARY)
    call = bound.WindowCall(function, arguments, window, condition, using, node.star or (function.is_aggregate and not arguments))
    scope.windows.append(call)
    scope.binding.written[id(call)] = node
    return inherit(call, *arguments)  # type: ignore[no-any-return]


def repeat_main_calls(expression: Expression, results: tuple[Expression, ...], made: list[bound.WindowCall]) -> Expression:
    """The ORDER BY term with repeated calls in place of calls of the main window in the result columns that it names or equals; they are added to
    ``made``."""
    owners = {id(node): (node, at) for at, result in enumerate(results) for node in result.walk() if type(node) is bound.WindowCall}
    if not owners:
        return expression
    place = next((at for at, result in enumerate(results) if result is expression), -1)
    if place < 0:
        key = expression.key()
        place = next((at for at in range(len(results) - 1, -1, -1) if results[at].key() == key), -1)
        if place >= 0:
            expression = results[place]
    main = next(iter(owners.values()))[0].window.key()

    def change(node: Expression) -> Expression | None:
        if id(node) not in owners or node.window.key() != main:  # type: ignore[attr-defined]
            return None
        call = node.copy()
        call.repeats = owners[id(node)][1] if place < 0 else place
        made.append(call)
        return call  # type: ignore[no-any-return]

    return expression.replace(change)


class _Definition:
    """A window specification with its base windows merged in (still AST)."""

    __slots__ = ("frame", "order_by", "partition_by")

    def __init__(self, partition_by: list[ast.Node], order_by: list[ast.OrderTerm], frame: ast.Frame | None) -> None:
        self.partition_by = partition_by
        self.order_by = order_by
        self.frame = frame


def _window(over: ast.WindowSpec | ast.Name, function: Any, scope: Scope) -> bound.Window:
    if isinstance(over, ast.Name):
        definition = _named(over, scope, ())
    else:
        definition = _merged(over, scope, ())
    partition = tuple([bind_expression(part, scope) for part in definition.partition_by])
    for part in partition:
        scope.binding.need_collation(part.collation or BINARY)
    order = tuple([_order_term(term, scope) for term in definition.order_by])
    frame = _frame(definition, function, scope)
    return bound.Window(partition, order, frame)


def _order_term(term: ast.OrderTerm, scope: Scope) -> bound.OrderTerm:
    expression = bind_expression(term.expr, scope)
    collation = scope.binding.need_collation(expression.collation or BINARY)
    nulls_last = None if term.nulls is None else term.nulls == "LAST"
    if nulls_last is not None and nulls_last == term.desc:
        nulls_last = None
    return bound.OrderTerm(expression, term.desc, nulls_last, collation)


def _named(name: ast.Name, scope: Scope, seen: tuple[str, ...]) -> _Definition:
    spec = scope.window_definitions.get(fold(name.text))
    if spec is None or fold(name.text) in seen:
        raise errors.no_such_window(name.text)
    return _merged(spec, scope, (*seen, fold(name.text)))


def _merged(spec: ast.WindowSpec, scope: Scope, seen: tuple[str, ...]) -> _Definition:
    if spec.base is None:
        return _Definition(spec.partition_by, spec.order_by, spec.frame)
    base = _named(spec.base, scope, seen)
    if spec.partition_by:
        raise errors.cannot_override_window("PARTITION clause", spec.base.text)
    if spec.order_by and base.order_by:
        raise errors.cannot_override_window("ORDER BY clause", spec.base.text)
    if base.frame is not None:
        raise errors.cannot_override_window("frame specification", spec.base.text)
    return _Definition(base.partition_by, spec.order_by or base.order_by, spec.frame)


def _frame(definition: _Definition, function: Any, scope: Scope) -> bound.Frame:
    written = definition.frame
    if written is not None:
        _check_frame(written, definition)
    fixed = _FIXED_FRAMES.get(function.name) if function.is_window else None
    if fixed is not None:
        unit, start, end = fixed
        one = bound.Literal(1) if start == "FOLLOWING" else None
        return bound.Frame(unit, (start, one), (end, None))
    if written is None:
        return bound.Frame()
    return bound.Frame(written.unit, (written.start.kind, _bound(written.start, scope)), (written.end.kind, _bound(written.end, scope)),
                       written.exclude)


def _bound(limit: ast.FrameBound, scope: Scope) -> Expression | None:
    """The offset of a frame bound: what is not constant counts as NULL (an error when it runs)."""
    if limit.expr is None:
        return None
    return bind_expression(limit.expr, scope) if is_plain_constant(limit.expr) else bound.Literal(None)


def _check_frame(frame: ast.Frame, definition: _Definition) -> None:
    start, end = _START_ORDER[frame.start.kind], _START_ORDER[frame.end.kind]
    if start == 4 or end == 0 or (start > end and not (start == end)) or (start == 2 and end == 1) or (start == 3 and end in (1, 2)):
        raise errors.unsupported_frame()
    if frame.unit == "RANGE" and (frame.start.expr is not None or frame.end.expr is not None) and len(definition.order_by) != 1:
        raise errors.range_needs_one_order()
