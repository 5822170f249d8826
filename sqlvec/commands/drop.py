"""DROP TABLE, INDEX, VIEW, TRIGGER.

Dropping a table removes its rows of sqlite_schema (indexes and triggers included), of sqlite_sequence and of the statistics tables, and frees its trees,
the largest root page first.  With foreign keys on it first does what a DELETE of all rows would do to its children.

Follows "DROP TABLE" and its siblings of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.commands import schema_write
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.commands.context import CommandContext
    from sqlvec.parse import ast
    from sqlvec.schema.objects import Table


def drop(context: CommandContext, statement: ast.Drop, sql: str) -> None:
    """Carry out the command."""
    _DROPS[statement.kind](context, statement)


def _written(statement: ast.Drop) -> str:
    return statement.name.text if statement.schema is None else f"{statement.schema.text}.{statement.name.text}"


def _check_schema(context: CommandContext, statement: ast.Drop) -> str | None:
    return None if statement.schema is None else statement.schema.text


def _drop_table(context: CommandContext, statement: ast.Drop) -> None:
    table = context.catalogs.find_table(_check_schema(context, statement), statement.name.text)
    wanted = statement.kind
    if table is None:
        if context.is_eponymous(statement.name.text):
            raise errors.may_not_be(statement.name.text, "dropped")
        if not statement.if_exists:
            raise errors.no_such(wanted, _written(statement))
        return
    if _is_protected(context, table):
        raise errors.may_not_be(table.name, "dropped")
    if wanted == "table" and table.kind == "view":
        raise errors.plain(f"use DROP VIEW to delete view {table.name}")
    if wanted == "view" and table.kind != "view":
        raise errors.plain(f"use DROP TABLE to delete table {table.name}")
    drop_object(context, table)


def _is_protected(context: CommandContext, table: Table) -> bool:
    name = table.name.lower()
    if not name.startswith("sqlite_"):
        return False
    return not name.startswith(("sqlite_stat", "sqlite_parameters"))


def drop_object(context: CommandContext, table: Table) -> None:
    """Drop a table, virtual table or view that exists."""
    number = table.database
    name = table.name
    schema_write.begin(context, number)
    if table.kind == "table" and context.settings.foreign_keys:
        _delete_for_foreign_keys(context, table)
    if table.kind == "virtual":
        resolve("sqlvec.commands.create_vtab:destroy")(context, table)
    catalog = context.databases.catalog(number)
    database = context.databases[number].name
    prefix = f"{schema_write.always_quoted(database)}."
    if table.autoincrement:
        context.nested_sql(f"DELETE FROM {prefix}sqlite_sequence WHERE name=?", name)
    for statistics in ("sqlite_stat1", "sqlite_stat4"):
        found = catalog.find_table(statistics)
        if found is not None and found is not table:
            context.nested_sql(f"DELETE FROM {prefix}{statistics} WHERE tbl=?", name)
    key = name.lower()
    temp_triggers = [trigger for trigger in context.catalogs.triggers_of(table) if trigger.database != number]
    roots = [] if table.kind != "table" else [table.root, *(index.root for index in table.indexes if not index.is_table_tree)]
    schema_write.change_rows(context, number, lambda row: None if (row[3] or "").lower() == key else row)
    schema_write.drop_trees(context, number, roots)
    auto_vacuum = context.databases[number].pager.auto_vacuum
    schema_write.finish(context, number, None if auto_vacuum else catalog.without_table(name))
    for trigger in temp_triggers:
        _drop_trigger_row(context, trigger.database, trigger.name)


def _delete_for_foreign_keys(context: CommandContext, table: Table) -> None:
    """The implicit DELETE: children are cascaded or counted; what stays violated is an error."""
    is_parent = any(
        key.parent.lower() == table.name.lower() and other is not table
        for other in context.databases.catalog(table.database).tables()
        for key in other.foreign_keys
    )
    has_deferred_child = any(key.deferred for key in table.foreign_keys)
    if not is_parent and not (has_deferred_child or table.foreign_keys):
        return
    before = context.transaction.deferred_violations
    name = schema_write.always_quoted(context.databases[table.database].name) + "." + schema_write.always_quoted(table.name)
    context.settings.defer_foreign_keys, kept = True, context.settings.defer_foreign_keys
    try:
        context.nested_sql(f"DELETE FROM {name}")
    finally:
        context.settings.defer_foreign_keys = kept
    if context.transaction.deferred_violations > before and not kept:
        raise errors.foreign_key_failed()


def _drop_index(context: CommandContext, statement: ast.Drop) -> None:
    index = context.catalogs.find_index(_check_schema(context, statement), statement.name.text)
    if index is None:
        if not statement.if_exists:
            raise errors.no_such("index", _written(statement))
        return
    if index.origin != "c":
        raise errors.plain("index associated with UNIQUE or PRIMARY KEY constraint cannot be dropped")
    number = index.table.database
    schema_write.begin(context, number)
    catalog = context.databases.catalog(number)
    key = index.name.lower()
    schema_write.change_rows(context, number, lambda row: None if row[1] == "index" and (row[2] or "").lower() == key else row)
    prefix = schema_write.always_quoted(context.databases[number].name) + "."
    for statistics in ("sqlite_stat1", "sqlite_stat4"):
        if catalog.find_table(statistics) is not None:
            context.nested_sql(f"DELETE FROM {prefix}{statistics} WHERE idx=?", index.name)
    schema_write.drop_trees(context, number, [index.root])
    auto_vacuum = context.databases[number].pager.auto_vacuum
    schema_write.finish(context, number, None if auto_vacuum else catalog.without_index(index.name))


def _drop_trigger(context: CommandContext, statement: ast.Drop) -> None:
    trigger = context.catalogs.find_trigger(_check_schema(context, statement), statement.name.text)
    if trigger is None:
        if not statement.if_exists:
            raise errors.no_such("trigger", _written(statement))
        return
    _drop_trigger_row(context, trigger.database, trigger.name)


def _drop_trigger_row(context: CommandContext, number: int, name: str) -> None:
    schema_write.begin(context, number)
    catalog = context.databases.catalog(number)
    key = name.lower()
    schema_write.change_rows(context, number, lambda row: None if row[1] == "trigger" and (row[2] or "").lower() == key else row)
    schema_write.finish(context, number, catalog.without_trigger(name))


_DROPS = {"table": _drop_table, "view": _drop_table, "index": _drop_index, "trigger": _drop_trigger}
