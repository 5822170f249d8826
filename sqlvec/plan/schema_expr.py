"""Binding the expressions that a schema declares: defaults, CHECKs, generated columns, index expressions, partial index conditions.

They read one row of their table, given as ``source``; the declaration restricts what may occur in them (no sub-queries, no parameters; in indexes and
generated columns no non-deterministic functions).  Nothing here depends on the statement that uses the expression.

Follows "CREATE TABLE", "Generated Columns", "Partial Indexes", "Indexes On Expressions" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.expr.bound import Column, Expression
from sqlvec.parse import ast
from sqlvec.parse.walk import descendants
from sqlvec.plan.expressions import bind_expression
from sqlvec.plan.scope import Binding, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.schema.objects import Index, Table

CHECKS = "CHECK constraints"
INDEX_EXPRESSIONS = "index expressions"
PARTIAL_INDEX = "partial index WHERE clauses"
GENERATED = "generated columns"


def image_columns(table: Table, source: int) -> tuple[Column, ...]:
    """The layout of a row image: the columns in order, then the rowid."""
    columns = [
        Column(source, number, column.name, column.affinity, column.collation, False, table)  # type: ignore[arg-type]
        for number, column in enumerate(table.columns)
    ]
    return (*columns, Column(source, -1, "rowid", None, None, False, table))


def row_scope(binding: Binding, table: Table, source: int, restriction: str | None) -> Scope:
    """A scope in which the columns of one row of ``table`` can be named."""
    scope = Scope(binding, restriction=restriction)
    scope.add_table(table, source)
    return scope


def bind_default(table: Table, number: int, binding: Binding) -> Expression | None:
    """The DEFAULT of a column, None when it has none.  Error: "unknown function: NAME()" for all but known scalar functions."""
    default = table.columns[number].default
    if default is None:
        return None
    for node in descendants(default):
        if type(node) is ast.FunctionCall:
            function = binding.context.functions.lookup(node.name.text, len(node.args))
            if function is None or function.is_aggregate or function.is_window:
                raise errors.unknown_function(node.name.text)
    return bind_expression(default, Scope(binding))


def default_or_error(table: Table, number: int, binding: Binding) -> Expression | errors.SqlError | None:
    """The DEFAULT of a column, or what is wrong with it: a matter of the statements that use it."""
    try:
        return bind_default(table, number, binding)
    except errors.SqlError as error:
        return error


def bind_checks(table: Table, source: int, binding: Binding) -> tuple[tuple[Expression, str], ...]:
    """CHECK constraints with the names that their failure shows."""
    scope = row_scope(binding, table, source, CHECKS)
    return tuple((bind_expression(check.expression, scope), check.name or shown_text(check.text)) for check in table.checks)


def _generated(table: Table, source: int, binding: Binding) -> dict[int, Expression]:
    scope = row_scope(binding, table, source, GENERATED)
    return {number: bind_expression(column.generated, scope) for number, column in enumerate(table.columns) if column.generated is not None}


def bind_generated(table: Table, source: int, binding: Binding) -> tuple[tuple[int, Expression], ...]:
    """Generated columns, each after those that it reads.  A loop is an error here, where rows are made, and not yet in CREATE TABLE."""
    waiting = _generated(table, source, binding)
    ordered: list[tuple[int, Expression]] = []
    while waiting:
        ready = [number for number, expression in waiting.items() if not _reads(expression) & waiting.keys()]
        if not ready:
            raise errors.plain(f'generated column loop on "{table.columns[max(waiting)].name}"')
        for number in ready:
            ordered.append((number, waiting.pop(number)))
    return tuple(ordered)


def _reads(expression: Expression) -> set[int]:
    return {node.number for node in expression.walk() if isinstance(node, Column)}


def bind_index_expressions(index: Index, source: int, binding: Binding) -> tuple[Expression | None, ...]:
    """One entry per field of the index record: the bound expression, None for a plain column."""
    scope = row_scope(binding, index.table, source, INDEX_EXPRESSIONS)
    return tuple(None if field.expression is None else bind_expression(field.expression, scope) for field in index.columns)


def bind_index_condition(index: Index, source: int, binding: Binding) -> Expression | None:
    """The WHERE of a partial index."""
    if index.where is None:
        return None
    return bind_expression(index.where, row_scope(binding, index.table, source, PARTIAL_INDEX))


def check_table(table: Table, context: Any) -> None:
    """Bind everything that a new table declares, for the errors."""
    context.collation_exists = None             # missing ones matter only where values are compared
    binding = Binding(context)
    _generated(table, 0, binding)
    bind_checks(table, 0, binding)


def check_index(index: Index, context: Any) -> None:
    """Bind what a new index declares, for the errors."""
    binding = Binding(context)
    bind_index_expressions(index, 0, binding)
    bind_index_condition(index, 0, binding)


def shown_text(text: str) -> str:
    """The text of an unnamed CHECK as its failure shows it: one that begins with a quoted name is cut to that name."""
    opening = text[:1]
    if opening not in ('"', "'", "`", "["):
        return text
    closing = "]" if opening == "[" else opening
    found = []
    position = 1
    while position < len(text):
        if text[position] == closing:
            if text[position + 1 : position + 2] != closing:
                break
            position += 1
        found.append(text[position])
        position += 1
    return "".join(found)
