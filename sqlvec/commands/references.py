"""Where the stored texts of a schema name a table or a column: the tokens that ALTER ... RENAME replaces.

Tables and indexes can be read off their syntax, since nothing in them may name another table's column.  Views and triggers are bound, with a listener
on every name that the binder resolves (``PlanContext.on_resolve``); targets of INSERT, UPDATE and DELETE and column lists are read off the syntax.

:func:`check_schema` binds all views and triggers and tells which one no longer works.

Follows "ALTER TABLE" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.commands import schema_write
from sqlvec.functions.registry import ScalarFunction
from sqlvec.parse import ast
from sqlvec.parse.walk import descendants
from sqlvec.plan import schema_expr
from sqlvec.plan.physical_dml import TableWrite, TriggerSet
from sqlvec.plan.scope import Frame
from sqlvec.plan.write_set import WriteBinder
from sqlvec.resolve import resolve
from sqlvec.schema.from_ast import index_from_ast, table_from_ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlvec.commands.context import CommandContext
    from sqlvec.schema.objects import Index, Table, Trigger


class TextBinder(WriteBinder):
    """Binds the text of a trigger alone: not the constraints of the tables it writes, nor the triggers that it would set off."""

    is_lenient = True

    def _fill(self, write: TableWrite) -> None:
        table = write.table
        write.defaults = (None,) * len(table.columns)

    def trigger_set(self, write: TableWrite, event: str, assigned: set[str] | None) -> TriggerSet:
        return TriggerSet()


class Resolved:
    """What binding a text reported: (name, table, column number or None) of the names that stand in the text itself."""

    def __init__(self, tree: ast.Node) -> None:
        self.own = {id(node) for node in descendants(tree) if isinstance(node, ast.Name)}
        self.found: list[tuple[ast.Name, Table, int | None]] = []
        self.strings: list[ast.Name] = []       # names in double quotes that mean nothing and are strings

    def note(self, name: ast.Name, table: Any, number: int | None, access: str) -> None:
        if id(name) not in self.own:
            return
        if access == "STRING":
            self.strings.append(name)
        else:
            self.found.append((name, table, number))


class AnyFunctions:
    """The function registry, in which every name exists: an unknown function is no reason to refuse an ALTER."""

    def __init__(self, functions: Any) -> None:
        self._functions = functions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._functions, name)

    def lookup(self, name: str, nargs: int) -> Any:
        found = self._functions.lookup(name, nargs)
        if found is None:
            return ScalarFunction(name, -1, -1, _unknown)
        return found


def _unknown(*arguments: Any) -> None:
    """Stands for a function that doesn't exist; never called."""


def _listening(context: CommandContext, resolved: Resolved) -> Any:
    """A PlanContext that reports names to ``resolved`` and accepts any function."""
    plan_context = lenient_context(context)
    plan_context.on_resolve = resolved.note
    return plan_context


def lenient_context(context: CommandContext) -> Any:
    """A PlanContext that accepts any function and collation."""
    plan_context = context.plan_context()
    plan_context.authorize = None
    plan_context.collation_exists = None
    plan_context.functions = AnyFunctions(plan_context.functions)
    return plan_context


def bind_view(context: CommandContext, view: Table) -> Resolved:
    """Bind the SELECT of a view."""
    assert view.select is not None
    resolved = Resolved(view.select)
    plan_context = _listening(context, resolved)
    binding = WriteBinder(plan_context).derived_binding()
    binding.schema = None if view.database == 1 else context.catalogs.names[view.database]
    binding.views.append(view)
    query = resolve("sqlvec.plan.select:bind_select")(view.select, binding, None, Frame(None))
    if view.view_columns and len(view.view_columns) != len(query.names):
        raise errors.view_columns(view.name, len(view.view_columns), len(query.names))
    return resolved


def bind_trigger(context: CommandContext, trigger: Trigger) -> Resolved:
    """Bind WHEN and body of a trigger."""
    resolved = Resolved(trigger.statement)
    plan_context = _listening(context, resolved)
    number = context.catalogs.database_of(trigger)
    table = None if number is None else context.databases.catalog(number).find_table(trigger.table_name)
    if table is None:
        schema = context.databases[0 if number is None else number].name
        raise errors.no_such_table(f"{schema}.{trigger.table_name}")
    binder = TextBinder(plan_context)
    if table.kind == "view":
        table = resolve("sqlvec.plan.write_target:view_row_table")(binder, table)
    write = binder.table_write(table)
    resolve("sqlvec.plan.trigger_program:trigger_program")(binder, trigger, write)
    return resolved


def check_schema(context: CommandContext, number: int, when: str) -> None:
    """Bind the whole schema of a file, and the views and triggers of temp; ``when`` is '' or what was just done, for the message.

    With legacy_alter_table views and triggers are left out."""
    _check_declarations(context, number, when)
    if context.settings.legacy_alter_table:
        return
    for database in sorted({number, 1}, key=lambda database: database == 1):
        if database == 1 and not context.databases[1].is_open:
            continue
        catalog = context.databases.catalog(database)
        for row in schema_write.rows(context, database):
            if row[1] == "view":
                table = catalog.find_table(row[2] or "")
                assert table is not None
                _checked(context, "view", row[2], when, bind_view, table)
            elif row[1] == "trigger":
                trigger = catalog.find_trigger(row[2] or "")
                assert trigger is not None
                _checked(context, "trigger", row[2], when, bind_trigger, trigger)


def _check_declarations(context: CommandContext, number: int, when: str) -> None:
    for table in context.databases.catalog(number).tables():
        if table.kind == "table" and (table.checks or any(column.generated is not None for column in table.columns)):
            _checked(context, "table", table.name, when, _bind_table, table)
        for index in reversed(table.indexes) if table.kind == "table" else ():
            if index.sql is not None:
                _checked(context, "index", index.name, when, _bind_index, index)


def _bind_table(context: CommandContext, table: Table) -> None:
    schema_expr.check_table(table, lenient_context(context))


def _bind_index(context: CommandContext, index: Index) -> None:
    schema_expr.check_index(index, lenient_context(context))


def _checked(context: CommandContext, kind: str, name: str | None, when: str, bind: Callable[[CommandContext, Any], Any], thing: Any) -> None:
    try:
        bind(context, thing)
    except errors.SqlError as error:
        if context.settings.writable_schema:
            return
        raise errors.while_altering(f"error in {kind} {name}{f' after {when}' if when else ''}: {error.message}") from None


def string_tokens(context: CommandContext, kind: str | None, name: str | None, tree: ast.Node, catalog: Any) -> list[ast.Name]:
    """Strings that a stored text writes in double quotes; RENAME COLUMN and DROP COLUMN put them into single quotes first."""
    if kind == "view":
        view = catalog.find_table(name or "")
        return bind_view(context, view).strings
    if kind == "trigger":
        return bind_trigger(context, catalog.find_trigger(name or "")).strings
    resolved = Resolved(tree)
    plan_context = _listening(context, resolved)
    try:
        if isinstance(tree, ast.CreateTable):
            schema_expr.check_table(table_from_ast(tree, catalog.number), plan_context)
        elif isinstance(tree, ast.CreateIndex):
            schema_expr.check_index(index_from_ast(tree, catalog.find_table(tree.table.text)), plan_context)
    except errors.SqlError:
        pass
    return resolved.strings


# --- tokens ------------------------------------------------------------------------------------------------------------------------------


def is_table(table: Any, target: Table) -> bool:
    return table is target or (table.database == target.database and table.name.lower() == target.name.lower())


def table_tokens(tree: ast.Node, name: str, is_own: bool, parents: bool, qualifiers: bool) -> list[ast.Name]:
    """Names of the table ``name`` in a CREATE TABLE or CREATE INDEX text; ``is_own``: the text declares it (or an index of it).

    ``parents``: those of foreign keys too; ``qualifiers``: those in front of columns."""
    key = name.lower()
    found: list[ast.Name] = []
    for node in descendants(tree):
        if isinstance(node, ast.ForeignKey):
            if parents and node.parent.text.lower() == key:
                found.append(node.parent)
        elif qualifiers and is_own and isinstance(node, ast.ColumnRef) and node.table is not None and node.table.text.lower() == key:
            found.append(node.table)
    if is_own:
        found.append(tree.table if isinstance(tree, ast.CreateIndex) else tree.name)  # type: ignore[attr-defined]
    return found


def column_tokens(tree: ast.Node, table: Table, column: str, is_own: bool) -> list[ast.Name]:
    """Names of a column in a CREATE TABLE or CREATE INDEX text."""
    key = column.lower()
    found: list[ast.Name] = []
    for node in descendants(tree):
        if isinstance(node, ast.ForeignKey):
            if node.parent.text.lower() == table.name.lower():
                found += [name for name in node.parent_columns if name.text.lower() == key]
            if is_own:
                found += [name for name in node.columns or () if name.text.lower() == key]
        elif not is_own:
            continue
        elif isinstance(node, ast.ColumnDef) and node.name.text.lower() == key:
            found.append(node.name)
        elif isinstance(node, ast.ColumnRef) and node.column.text.lower() == key:
            found.append(node.column)
        elif isinstance(node, (ast.PrimaryKey, ast.Unique, ast.CreateIndex)):
            for term in node.columns or ():
                expr = term.expr
                while isinstance(expr, ast.Collate):
                    expr = expr.operand
                if isinstance(expr, ast.Literal) and expr.kind == "string" and expr.value.lower() == key:
                    found.append(ast.Name(expr.value, expr.span, "'"))
    return found


def bound_tokens(resolved: Resolved, tree: ast.Node, target: Table, column: int | None, context: CommandContext, schema: str | None) -> list[ast.Name]:
    """Names of the table (``column`` None) or of its column in a bound view or trigger."""
    found = [name for name, table, number in resolved.found if number == column and is_table(table, target)]
    if column is not None and column == target.rowid_column:
        found += [
            name for name, table, number in resolved.found
            if number == -1 and is_table(table, target) and name.text.lower() == target.columns[column].name.lower()
        ]
    for node in descendants(tree):
        if isinstance(node, (ast.Insert, ast.Update, ast.Delete)):
            qualifier = node.table.schema.text if node.table.schema is not None else schema
            table = context.catalogs.find_table(qualifier, node.table.name.text)
            if table is not None and is_table(table, target):
                found += _target_tokens(node, target, column)
        elif isinstance(node, ast.JoinItem) and column is not None and node.using:
            found += [name for name in node.using if name.text.lower() == target.columns[column].name.lower()]
    return found


def _target_tokens(node: Any, target: Table, column: int | None) -> list[ast.Name]:
    if column is None:
        return [node.table.name]
    key = target.columns[column].name.lower()
    lists: list[Any] = []
    if isinstance(node, ast.Insert):
        lists.append(node.columns or ())
        lists += [part.names for upsert in node.upserts for part in upsert.sets or ()]
    elif isinstance(node, ast.Update):
        lists += [part.names for part in node.sets]
    return [name for names in lists for name in names if name.text.lower() == key]


def replaced(sql: str, tokens: list[ast.Name], spell: Callable[[ast.Name], str]) -> str:
    """The text with every token spelled anew."""
    by_span = {name.span: name for name in tokens}
    for start, end in sorted(by_span, reverse=True):
        space = " " if sql[end : end + 1] in ('"', "'") else ""
        sql = sql[:start] + spell(by_span[start, end]) + space + sql[end:]
    return sql
