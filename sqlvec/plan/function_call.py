"""Binding function calls: scalar functions, aggregates and window functions.

An aggregate belongs to the innermost query whose columns its arguments use, not always to the query it is written in: that query's scope collects it.
The judgement on a call (unknown function, wrong number of arguments, misuse) comes after its arguments are bound, so that their errors win.

Follows "Built-in Aggregate Functions", "Window Functions" and "Security Considerations" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.expr import bound
from sqlvec.expr.bound import BINARY, Literal, inherit
from sqlvec.functions.registry import ScalarFunction
from sqlvec.parse import ast
from sqlvec.plan.expressions import bind_expression
from sqlvec.plan.scope import Scope
from sqlvec.resolve import resolve
from sqlvec.schema.catalog import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.expr.bound import Expression
    from sqlvec.plan.scope import Frame

AUTH_FUNCTION = 31
IGNORED = "ignored"
"""What the look-up gives for a function that the authorizer has read as NULL."""
ARGUMENT_LIMIT = 127


def bind_call(node: ast.FunctionCall, scope: Scope) -> Expression:
    """A call of any kind of function."""
    function, error = _look_up(node, scope)
    if function is IGNORED:
        return Literal(None)
    if error is None:
        error = _restrictions(function, node, scope)
    is_window = function is not None and node.over is not None
    is_aggregate = function is not None and function.is_aggregate and not is_window
    if error is None:
        error = _placement(function, node, scope)
    if is_window and error is None:
        return resolve("sqlvec.plan.window:bind_window_call")(node, function, scope)  # type: ignore[no-any-return]
    if is_aggregate and error is None:
        return _aggregate(node, function, scope)
    arguments = tuple([bind_expression(argument, scope) for argument in node.args])
    if node.filter is not None:
        bind_expression(node.filter, scope)
    if node.over is not None and not isinstance(node.over, ast.Name):
        for part in [*node.over.partition_by, *(term.expr for term in node.over.order_by)]:
            bind_expression(part, scope)
    if error is None and arguments and function is not None:
        function = _overloaded(node, arguments, scope) or function
    if error is not None and arguments:
        overloaded = _overloaded(node, arguments, scope)
        if overloaded is not None:
            function, error = overloaded, None
    if error is not None:
        raise error
    return _scalar(function, arguments, scope)


def _look_up(node: ast.FunctionCall, scope: Scope) -> tuple[Any, errors.SqlError | None]:
    binding = scope.binding
    functions = binding.context.functions
    name = node.name.text
    if len(node.args) > binding.context.settings.limits.get("SQLITE_LIMIT_FUNCTION_ARG", ARGUMENT_LIMIT):
        return None, errors.too_many_arguments(name, binding.offset(node))
    function = functions.lookup(name, len(node.args))
    offset = binding.offset(node)
    if function is None and scope.restriction is not None and binding.is_derived and not functions.knows(name):
        function = _unknown(name, None if scope.restriction == "CHECK constraints" else node.span[0])
    if node.star and (function is None or (fold(name) != "count")):
        return None, errors.wrong_argument_count(name, offset) if functions.knows(name) else errors.no_such_function(name, offset)
    if function is None:
        return None, errors.wrong_argument_count(name, offset) if functions.knows(name) else errors.no_such_function(name, offset)
    if binding.context.authorize is not None:
        verdict = binding.authorize(AUTH_FUNCTION, None, function.name, None)
        if verdict == 1:
            return None, errors.function_not_authorized(function.name)
        if verdict == 2:
            return IGNORED, None
    return function, None


def _unknown(name: str, offset: int | None) -> ScalarFunction:
    """A function that a stored declaration calls and that is not there: an error where it is needed."""
    def call(*arguments: Any) -> None:
        error = errors.unknown_function(name)
        error.offset = offset
        error.phase = "prepare"
        raise error

    return ScalarFunction(name, 0, -1, call, may_raise=True, builtin=False)


def _restrictions(function: Any, node: ast.FunctionCall, scope: Scope) -> errors.SqlError | None:
    offset = scope.binding.offset(node)
    restriction = scope.restriction
    if restriction is not None and restriction != "CHECK constraints" and not function.deterministic and not function.is_aggregate:
        return errors.prohibited("non-deterministic functions", restriction, offset)
    if fold(function.name) == "likelihood":
        hint = node.args[1]
        if not (isinstance(hint, ast.Literal) and hint.kind == "float" and 0.0 <= hint.value <= 1.0):
            return errors.likelihood_argument(offset)
    binding = scope.binding
    from_schema = bool(binding.views) or restriction is not None or binding.in_trigger
    if from_schema and (function.direct_only or not (function.innocuous or binding.context.settings.trusted_schema)):
        return errors.unsafe_use(function.name, offset)
    return None


def _placement(function: Any, node: ast.FunctionCall, scope: Scope) -> errors.SqlError | None:
    """Is the kind of call allowed here?"""
    binding = scope.binding
    offset = binding.offset(node)
    name = node.name.text
    if node.over is not None:
        if not (function.is_window or function.is_aggregate):
            return errors.not_a_window_function(name, offset)
        if function.is_aggregate and not function.can_window:
            return errors.not_a_window_function(name, offset)
        if not scope.allow_windows:
            return errors.misuse_of_function("window", name, offset)
        return None
    if function.is_window:
        return errors.misuse_of_function("window", name, offset)
    if function.is_aggregate:
        return None
    if node.filter is not None:
        return errors.filter_on_scalar(name, offset)
    return None


def _overloaded(node: ast.FunctionCall, arguments: tuple[Expression, ...], scope: Scope) -> Any:
    """A function that the virtual table of the first argument provides (snippet, matchinfo, bm25 ...)."""
    first = arguments[0]
    if type(first) is bound.Column and first.table is not None and first.table.kind == "virtual":
        connect = scope.binding.context.connect_vtab
        instance = connect(first.table.database, first.table.name) if connect is not None else None
        if instance is not None:
            return instance.find_function(fold(node.name.text), len(arguments))
    return None


def _scalar(function: Any, arguments: tuple[Expression, ...], scope: Scope) -> Expression:
    name = function.name
    using = BINARY
    if scope.restriction is not None and function.builtin and function.context and function.deterministic:
        if name in resolve("sqlvec.functions.pure:DATE_FUNCTIONS"):
            function = resolve("sqlvec.functions.pure:pure_variant")(function, scope.restriction)
    if function.uses_collation:
        chosen = next((argument for argument in arguments if argument.collation), None)
        if chosen is not None:
            using = scope.binding.need_collation(chosen.collation or BINARY)
    call = bound.Call(function, arguments, using)
    return inherit(call, *arguments)  # type: ignore[no-any-return]


# --- aggregates --------------------------------------------------------------------------------------------------------------------------------


def _aggregate(node: ast.FunctionCall, function: Any, scope: Scope) -> Expression:
    if scope.in_aggregate:
        raise errors.misuse_of_function("aggregate", node.name.text, scope.binding.offset(node))
    saved = scope.allow_aggregates, scope.allow_windows
    scope.allow_aggregates = scope.allow_windows = False
    scope.in_aggregate = True
    try:
        arguments = tuple([bind_expression(argument, scope) for argument in node.args])
        condition = bind_expression(node.filter, scope) if node.filter is not None else None
    finally:
        scope.allow_aggregates, scope.allow_windows = saved
        scope.in_aggregate = False
    if node.distinct and len(arguments) != 1:
        raise errors.distinct_arguments()
    using = BINARY
    if arguments and (node.distinct or function.uses_collation):
        using = scope.binding.need_collation(arguments[0].collation or BINARY)
    call = bound.AggregateCall(function, arguments, node.distinct, condition, using, node.star or not arguments)
    owner = _owner(arguments, condition, scope)
    if owner is scope and not scope.allow_aggregates:
        if scope.clause != "WHERE" or not (scope.aggregates or scope.is_grouped):
            raise errors.misuse_of_function("aggregate", node.name.text, scope.binding.offset(node))
        scope.misused = scope.misused or node
        return inherit(call, *arguments)  # type: ignore[no-any-return]
    if owner is not scope:
        if not owner.allow_aggregates or _leaves_from(scope, owner):
            raise errors.misuse_of_aggregate(node.name.text, scope.binding.offset(node))
        at: Scope | None = scope
        while at is not None and at is not owner:
            at.has_inner_aggregates = True
            at = at.parent
        owner.has_inner_aggregates = True
        if not owner.in_window and owner.clause in ("result", "ORDER BY"):
            owner.misused_under_windows = owner.misused_under_windows or node
    call.owner = id(owner)
    scope.binding.written[id(call)] = node
    owner.aggregates.append((owner.clause, call))
    return inherit(call, *arguments)  # type: ignore[no-any-return]


def _leaves_from(scope: Scope, owner: Scope) -> bool:
    """Is there a sub-query of FROM between the two?  It is computed before the rows of the outer query are grouped."""
    frame: Frame | None = scope.frame
    while frame is not None and frame is not owner.frame:
        if frame.is_from:
            return True
        frame = frame.parent
    return False


def _owner(arguments: tuple[Expression, ...], condition: Expression | None, scope: Scope) -> Scope:
    """The innermost query whose sources the arguments read; the query itself if they read none."""
    read = set()
    for expression in (*arguments, *((condition,) if condition is not None else ())):
        read |= bound.sources_of(expression)
    if not read:
        return scope
    at: Scope | None = scope
    while at is not None:
        if read & at.own_sources():
            return at
        at = at.parent
    return scope
