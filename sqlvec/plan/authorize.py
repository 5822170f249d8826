"""What the planner asks an authorizer about: the reads of columns and tables, with what the answers mean.

A READ that is ignored reads NULL; an ignored SELECT or INSERT makes the whole statement do nothing (``errors.Ignored``); an ignored UPDATE leaves out the
assignment; an ignored DELETE goes on (row by row); an ignored function gives NULL.  ``binding.authorize`` names who reads: the innermost view, CTE
or trigger.

Follows "sqlite3_set_authorizer()" and "Authorizer Action Codes" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.expr.bound import Literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.expr.bound import Expression
    from sqlvec.plan.logical import Block
    from sqlvec.plan.scope import Binding, Source
    from sqlvec.schema.objects import Table

ALLOWED, DENIED, IGNORED = 0, 1, 2
AUTH_READ = 20
AUTH_FUNCTION = 31


def read(source: Source, number: int, expression: Expression, binding: Binding) -> Expression:
    """Ask about the column that ``expression`` is a reference to: the same, or NULL.  Errors: "access to T.C is prohibited"."""
    table = source.table
    if table is None:
        view = source.item.view if source.item is not None else None
        if view is None:
            return expression
        return _answer(view, source.names[number] if number >= 0 else "ROWID", expression, binding)
    if not source.is_asked:
        return expression
    if number >= 0:
        name = table.columns[number].name
    else:
        name = table.columns[table.rowid_column].name if table.rowid_column >= 0 else "ROWID"
    return _answer(table, name, expression, binding)


def _answer(table: Table, name: str, expression: Expression, binding: Binding) -> Expression:
    verdict = binding.authorize(AUTH_READ, table.name, name, table.database)
    if verdict == DENIED:
        names = binding.context.catalogs.names
        raise errors.access_prohibited(table.name, name, names[table.database] if len(names) > 2 or table.database else None)
    return Literal(None) if verdict == IGNORED else expression


def check(verdict: int) -> None:
    """The answer about a whole statement.  Errors: "not authorized"; Ignored."""
    if verdict == DENIED:
        raise errors.authorization_denied()
    if verdict == IGNORED:
        raise errors.Ignored()


def unread_tables(block: Block, binding: Binding) -> None:
    """Tables of which no column is read are asked about as a whole, with an empty column name and no schema."""
    for item in block.from_items:
        if item.table is not None and not any(number >= 0 for number in item.used):
            if binding.authorize(AUTH_READ, item.table.name, "", None) == DENIED:
                raise errors.authorization_denied()


def is_ignored(function: str, binding: Binding) -> bool:
    """Ask about the function behind an operator (LIKE, GLOB, ...).  Errors: "not authorized to use function: NAME"."""
    verdict = binding.authorize(AUTH_FUNCTION, None, function, None)
    if verdict == DENIED:
        raise errors.function_not_authorized(function)
    return verdict == IGNORED
