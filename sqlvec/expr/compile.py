"""Compiling emitted source: bound expressions become Python functions of ``(row, outer)``.

``compile_expressions(expressions, layout, context)`` gives a function ``f(row, outer=()) -> tuple``; ``compile_value`` one that gives a single value, and
``compile_condition`` one whose result is truthy exactly when the condition is TRUE.

``layout`` are the columns of ``row``; ``outer_columns`` those of the tuple ``outer`` (values of enclosing queries, NEW and OLD of a trigger).
``context`` is a RunContext or an Activation (exec/program.py).

The code of one set of expressions is made once and remembered (the expression objects of a plan live as long as the plan); binding it to
parameters, collations and an activation is one call.  Only literals and columns of the row are answered without compiling anything.
"""
from __future__ import annotations

from operator import itemgetter

from sqlvec.expr import bound
from sqlvec.expr.emit import Emitter, may_be_json
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlvec.expr.bound import Column, Expression
    from sqlvec.values.compare import Collations

_CACHE_LIMIT = 2000
_cache: dict[Any, tuple[Any, Any]] = {}
listing: list[str] | None = None
"""Set to a list to collect generated source (perf/ prints it)."""


_CODE_LIMIT = 600
_codes: dict[str, Any] = {}


def run_source(lines: list[str], scope: dict[str, Any], name: str) -> Any:
    """Execute a generated module and return the object ``name`` that it defines.  Equal sources share their code; what differs is in the scope."""
    source = "\n".join(lines) + "\n"
    if listing is not None:
        listing.append(source)
    code = _codes.get(source)
    if code is None:
        code = compile(source, f"<sqlvec {name}>", "exec")
        if len(_codes) >= _CODE_LIMIT:
            _codes.clear()
        _codes[source] = code
    exec(code, scope)
    return scope[name]


def _key(expressions: tuple[Expression, ...], layout: tuple[Column, ...], outer: tuple[Column, ...], collations: Collations, kind: str) -> Any:
    return (
        kind,
        tuple(map(id, expressions)),
        tuple((column.source, column.number) for column in layout),
        tuple((column.source, column.number) for column in outer),
        id(collations),
        collations.generation,
        collations.encoding,
    )


def maker(expressions: tuple[Expression, ...], layout: tuple[Column, ...], collations: Collations, outer: tuple[Column, ...] = (),
          kind: str = "tuple") -> Any:
    """The remembered ``make(act, ctx) -> function(row, outer)`` of these expressions; ``make.needs_activation`` says whether ``act`` is used.

    ``kind`` is ``value``, ``condition``, ``tuple``, or ``tuple:`` and the places (comma-separated) of values that keep their JSON subtype."""
    key = _key(expressions, layout, outer, collations, kind)
    found = _cache.get(key)
    if found is not None:
        return found[0]
    make = _build(expressions, layout, collations, outer, kind)
    if len(_cache) >= _CACHE_LIMIT:
        _cache.clear()
    _cache[key] = (make, (expressions, layout, outer, collations))
    return make


class Maker:
    """A compiled set of expressions, not yet bound to a run."""

    __slots__ = ("make", "needs_activation", "simple")

    def __init__(self, make: Any, needs_activation: bool, simple: Any = None) -> None:
        self.make = make
        self.needs_activation = needs_activation
        self.simple = simple

    def bind(self, context: Any) -> Callable[..., Any]:
        """The function for one run; ``context`` is a RunContext or an Activation."""
        if self.simple is not None:
            return self.simple  # type: ignore[no-any-return]
        inner = getattr(context, "context", None)
        if inner is not None:
            return self.make(context, inner)  # type: ignore[no-any-return]
        act = resolve("sqlvec.exec.program:Activation")(context) if self.needs_activation else None
        return self.make(act, context)  # type: ignore[no-any-return]


def _build(expressions: tuple[Expression, ...], layout: tuple[Column, ...], collations: Collations, outer: tuple[Column, ...], kind: str) -> Maker:
    simple = _simple(expressions, layout, kind)
    if simple is not None:
        return Maker(None, False, simple)
    emitter = Emitter(collations, collations.encoding)
    emitter.set_layout(layout, "r")
    emitter.set_outer(outer, "o")
    for expression in expressions:
        emitter.cut(expression)
    if kind.startswith("tuple"):
        keeps = {int(place) for place in kind[6:].split(",")} if kind[6:] else ()
        body = "(" + "".join(f"{emitter.value(expression) if place in keeps else emitter.result(expression)}, "
                             for place, expression in enumerate(expressions)) + ")"
    elif kind == "value":
        body = emitter.result(expressions[0])
    else:
        body = emitter.truth(expressions[0])
    lines = ["def make(act, ctx):"]
    lines += ["    " + line for line in emitter.prologue()]
    lines += ["    def row_function(r, o=()):", f"        return {body}", "    return row_function"]
    return Maker(run_source(lines, emitter.scope, "make"), emitter.uses_activation)


def _simple(expressions: tuple[Expression, ...], layout: tuple[Column, ...], kind: str) -> Any:
    """Functions that need no generated code: constants, plain columns."""
    if kind == "condition":
        return None
    if all(isinstance(expression, bound.Literal) for expression in expressions):
        values = tuple(expression.value for expression in expressions)  # type: ignore[attr-defined]
        constant = values if kind.startswith("tuple") else values[0]
        return lambda row=(), outer=(): constant
    if kind == "tuple" and all(isinstance(expression, bound.Column) for expression in expressions):
        places = {(column.source, column.number): index for index, column in reversed(tuple(enumerate(layout)))}
        indexes = [places.get((expression.source, expression.number)) for expression in expressions]  # type: ignore[attr-defined]
        if None in indexes:
            return None
        if indexes == list(range(len(layout))):
            return lambda row, outer=(): tuple(row)
        if len(indexes) > 1:
            pick = itemgetter(*indexes)  # type: ignore[arg-type]
            return lambda row, outer=(): pick(row)
    return None


def compile_expressions(expressions: Any, layout: tuple[Column, ...], context: Any, outer_columns: tuple[Column, ...] = ()) -> Callable[..., Any]:
    """``f(row, outer=()) -> tuple`` of the values of ``expressions``."""
    return maker(tuple(expressions), tuple(layout), collations_of(context), tuple(outer_columns), "tuple").bind(context)  # type: ignore[no-any-return]


def compile_value(expression: Expression, layout: tuple[Column, ...], context: Any, outer_columns: tuple[Column, ...] = ()) -> Callable[..., Any]:
    """``f(row, outer=()) -> value``."""
    return maker((expression,), tuple(layout), collations_of(context), tuple(outer_columns), "value").bind(context)  # type: ignore[no-any-return]


def compile_condition(expression: Expression, layout: tuple[Column, ...], context: Any, outer_columns: tuple[Column, ...] = ()) -> Callable[..., Any]:
    """``f(row, outer=())``, truthy exactly when the condition is TRUE."""
    return maker((expression,), tuple(layout), collations_of(context), tuple(outer_columns), "condition").bind(context)  # type: ignore[no-any-return]


def collations_of(context: Any) -> Collations:
    """The collations of a RunContext or Activation."""
    inner = getattr(context, "context", None)
    return (context if inner is None else inner).collations  # type: ignore[no-any-return]


__all__ = ["collations_of", "compile_condition", "compile_expressions", "compile_value", "maker", "may_be_json", "run_source"]
