"""CREATE VIEW and CREATE TRIGGER: text that goes into sqlite_schema after a few checks; names inside are resolved when they are used.

Follows "CREATE VIEW" and "CREATE TRIGGER" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.commands import schema_write
from sqlvec.commands.create_table import prepare_name
from sqlvec.parse.walk import descendants
from sqlvec.schema.load import extended_catalog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.commands.context import CommandContext
    from sqlvec.parse import ast

TEMP = 1


def create_view(context: CommandContext, statement: ast.CreateView, sql: str) -> None:
    """Carry out CREATE VIEW."""
    if getattr(statement, "parameter_count", 0):
        raise errors.plain("parameters are not allowed in views")
    number = prepare_name(context, statement, "view")
    if number is None:
        return
    refuse_other_databases(context, statement.select, number, "view", statement.name.text, statement.name.span[0])
    text = "CREATE VIEW " + sql[statement.name_start : statement.text_end]
    schema_write.begin(context, number)
    catalog = context.databases.catalog(number)
    name = statement.name.text
    row = schema_write.add_row(context, number, "view", name, name, 0, text)
    schema_write.finish(context, number, extended_catalog(catalog, row))


def refuse_other_databases(context: CommandContext, tree: ast.Node, number: int, kind: str, name: str, offset: int | None = None) -> None:
    """Views, triggers and indexes of a file may name objects of that file only (those of temp are free)."""
    if number == TEMP:
        return
    own = context.databases[number].name.lower()
    for node in descendants(tree):
        schema = getattr(node, "schema", None) if type(node).__name__ == "TableName" else None
        if schema is not None and schema.text.lower() != own and not (number == 0 and schema.text.lower() == "main"):
            raise errors.plain(f"{kind} {name} cannot reference objects in database {schema.text}", offset)


def create_trigger(context: CommandContext, statement: ast.CreateTrigger, sql: str) -> None:
    """Carry out CREATE TRIGGER."""
    if getattr(statement, "parameter_count", 0):
        raise errors.plain("trigger cannot use variables")
    if statement.temp and statement.schema is not None:
        raise errors.plain("temporary trigger may not have qualified name")
    name = statement.name.text
    schema = statement.table_schema.text if statement.table_schema is not None else None
    number = TEMP if statement.temp else 0
    if not statement.temp and statement.schema is not None:
        number = schema_write.target_database(context, statement.schema)
        schema = schema or statement.schema.text
    table = context.catalogs.find_table(schema, statement.table.text)
    if table is None and schema is not None and number != TEMP and statement.schema is not None:
        table = context.catalogs.find_table(None, statement.table.text) if statement.table_schema is None else None
    if table is None and context.is_eponymous(statement.table.text):
        raise errors.plain("cannot create triggers on virtual tables")
    if table is None:
        where = schema if schema is not None else context.databases[number].name
        is_temp = number == TEMP and statement.table_schema is None
        raise errors.no_such_table(statement.table.text if is_temp else f"{where}.{statement.table.text}")
    if statement.schema is None and not statement.temp and (statement.table_schema is None or table.database == TEMP):
        number = table.database
    if (statement.schema is not None or statement.table_schema is not None) and table.database != number and number != TEMP:
        raise errors.plain(f"trigger {name} cannot reference objects in database {context.databases[table.database].name}", statement.name.span[0])
    if table.kind == "virtual":
        raise errors.plain("cannot create triggers on virtual tables")
    schema_write.check_name(context, name)
    catalog = context.databases.catalog(number)
    if catalog.find_trigger(name) is not None:
        if statement.if_not_exists:
            return
        raise errors.already_exists("trigger", statement.name.written, statement.name.span[0])
    if table.name.lower().startswith("sqlite_"):
        raise errors.plain("cannot create trigger on system table")
    timing = statement.time or "BEFORE"
    if table.kind == "view" and timing != "INSTEAD OF":
        raise errors.plain(f"cannot create {timing} trigger on view: {table_text(statement)}")
    if table.kind != "view" and timing == "INSTEAD OF":
        raise errors.plain(f"cannot create INSTEAD OF trigger on table: {table_text(statement)}")
    for part in (statement.when, *statement.body):
        if part is not None:
            refuse_other_databases(context, part, number, "trigger", name)
    text = "CREATE TRIGGER " + sql[statement.name_start : statement.text_end]
    schema_write.begin(context, number)
    row = schema_write.add_row(context, number, "trigger", name, statement.table.text, 0, text)
    schema_write.finish(context, number, extended_catalog(catalog, row))


def table_text(statement: ast.CreateTrigger) -> str:
    """The table as the statement writes it."""
    return statement.table.text if statement.table_schema is None else f"{statement.table_schema.text}.{statement.table.text}"
