"""ATTACH and DETACH.

Follows "ATTACH DATABASE" and "DETACH DATABASE" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.database.database_set import MAX_ATTACHED
from sqlvec.expr.compile import compile_expressions
from sqlvec.parse import ast
from sqlvec.plan.error_order import raise_earlier
from sqlvec.plan.expressions import bind_expression
from sqlvec.plan.planner import plan_statement
from sqlvec.plan.scope import Binding, Scope
from sqlvec.resolve import resolve
from sqlvec.values.storage import cast_to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.commands.context import CommandContext
    from sqlvec.expr.bound import Expression
    from sqlvec.plan.physical import Plan
    from sqlvec.plan.planner import PlanContext


def evaluate(context: CommandContext, node: ast.Node) -> Any:
    """The value of an expression that stands outside any query; a lone identifier is its own text."""
    if isinstance(node, ast.ColumnRef) and node.table is None:
        return node.column.text
    try:
        expression, plan = _prepared(context.plan_context(), node)
    except errors.SqlError as error:
        error.phase = "prepare"
        raise
    run_context = context.run_context(context.parameters)  # type: ignore[call-arg]
    if plan is not None:
        return next(resolve("sqlvec.exec.run:execute")(plan, run_context))[0]
    return compile_expressions((expression,), (), run_context)(())[0]


def _prepared(context: PlanContext, node: ast.Node) -> tuple[Expression, Plan | None]:
    """The bound expression, and where it has sub-queries the plan of a SELECT of it."""
    select = ast.Select(None, ast.Values([[node]], node.span), [], None, None, node.span)
    binding = Binding(context)
    try:
        expression = bind_expression(node, Scope(binding))          # refuses aggregates, which a SELECT would take
        return expression, plan_statement(select, context) if binding.subqueries else None
    except errors.SqlError:
        raise_earlier(select, context)
        raise


def attach(context: CommandContext, statement: ast.Attach, sql: str) -> None:
    """Carry out ATTACH."""
    path = cast_to_text(evaluate(context, statement.file)) or ""
    name = cast_to_text(evaluate(context, statement.schema)) or ""
    databases = context.databases
    most = context.settings.limits.get("SQLITE_LIMIT_ATTACHED", MAX_ATTACHED)
    if len(databases) - 2 >= most:
        raise errors.plain(f"too many attached databases - max {most}")
    if databases.number_of(name) is not None:
        raise errors.plain(f"database {name} is already in use")
    options: dict[str, Any] = {}
    where: str | None = path
    if path.startswith("file:"):
        where, options = resolve("sqlvec.session.uri:parse_uri")(path, {})
    if where in ("", ":memory:"):
        where, options = None, {}
    try:
        database = databases.add(name, where, **options)
        pager = database.pager
    except errors.SqlError as error:
        databases.remove(len(databases) - 1)
        if error.code == errors.CANTOPEN:
            raise errors.SqlError(errors.CANTOPEN, f"unable to open database: {path}", error.extended) from None
        raise
    number = len(databases) - 1
    try:
        main = databases[0].pager
        pager.begin_read()
        try:
            if pager.page_count and main.page_count and pager.header("text_encoding") and pager.encoding != main.encoding:
                raise errors.plain("attached databases must use the same text encoding as main database")
            if not pager.page_count:
                pager.encoding = main.encoding
        finally:
            pager.end_read()
        databases.catalog(number)
    except BaseException:
        databases.remove(number)
        raise
    databases.settings.changed()


def detach(context: CommandContext, statement: ast.Detach, sql: str) -> None:
    """Carry out DETACH."""
    name = cast_to_text(evaluate(context, statement.schema)) or ""
    databases = context.databases
    number = databases.number_of(name)
    if number is None or (number == 1 and not databases[1].is_open):
        raise errors.plain(f"no such database: {name}")
    if number < 2:
        raise errors.plain(f"cannot detach database {databases[number].name}")
    pager = databases[number].pager
    if pager.in_write or (pager.in_read and not context.transaction.autocommit) or (context.transaction.active_reads > 1 and pager.readers > 0):
        raise errors.plain(f"database {name} is locked")
    tables = context.session.virtual_tables
    for key in [key for key in tables if key[0] >= number]:
        tables.pop(key).disconnect()
    databases.remove(number)
    for frame in context.transaction.frames:
        frame.depths = {(key if key < number else key - 1): depth for key, depth in frame.depths.items() if key != number}
        del frame.catalogs[number:]
    if context.transaction.base_catalogs is not None:
        del context.transaction.base_catalogs[number:]
