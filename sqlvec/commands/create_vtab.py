"""CREATE VIRTUAL TABLE, and what DROP TABLE does to a virtual table.

The schema row comes first, then the module makes its shadow tables (through nested SQL).

Follows "The Virtual Table Mechanism Of SQLite" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.commands import schema_write
from sqlvec.schema.load import extended_catalog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.commands.context import CommandContext
    from sqlvec.parse import ast
    from sqlvec.schema.objects import Table


def create_virtual_table(context: CommandContext, statement: ast.CreateVirtualTable, sql: str) -> None:
    """Carry out the command."""
    number = schema_write.target_database(context, statement.schema)
    name = statement.name.text
    schema_write.check_name(context, name)
    catalog = context.databases.catalog(number)
    existing = catalog.find_table(name)
    if existing is not None:
        if statement.if_not_exists:
            return
        raise errors.already_exists("view" if existing.kind == "view" else "table", statement.name.written, statement.name.span[0])
    if catalog.find_index(name) is not None:
        raise errors.already_named("index", name)
    session = context.session
    module = session.modules.find(statement.module.text)
    if module is None or module.eponymous_only:
        raise errors.no_such_module(statement.module.text)
    text = "CREATE VIRTUAL TABLE " + sql[statement.name_start : statement.text_end].rstrip()
    schema_write.begin(context, number)
    row = schema_write.add_row(context, number, "table", name, name, 0, text)
    schema_write.finish(context, number, extended_catalog(catalog, row))
    made = module.connect(context.run_context(), context.databases[number].name, name, tuple(statement.arguments), True)
    session.virtual_tables[number, name.lower()] = made


def destroy(context: CommandContext, table: Table) -> None:
    """Let the module of a virtual table that is being dropped remove its shadow tables."""
    instance = context.plan_context().connect_vtab(table.database, table.name)
    context.session.virtual_tables.pop((table.database, table.name.lower()), None)
    if instance is not None:
        instance.destroy()
