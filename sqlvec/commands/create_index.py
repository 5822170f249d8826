"""CREATE INDEX.

Follows "CREATE INDEX" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.commands import index_build, schema_write
from sqlvec.commands.create_view_trigger import refuse_other_databases
from sqlvec.plan import schema_expr
from sqlvec.schema.from_ast import index_from_ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.commands.context import CommandContext
    from sqlvec.parse import ast
    from sqlvec.schema.objects import Table

TEMP = 1


def create_index(context: CommandContext, statement: ast.CreateIndex, sql: str) -> None:
    """Carry out the command."""
    for term in statement.columns:          # refused before any name is looked up
        if term.nulls is not None:
            raise errors.unsupported_nulls(term.nulls)
    table = _find_table(context, statement)
    number = table.database
    name = statement.name.text
    if statement.where is not None:
        refuse_other_databases(context, statement.where, number, "index", name)
    if table.name.lower().startswith("sqlite_"):
        raise errors.may_not_be(table.name, "indexed")
    if table.kind == "view":
        raise errors.plain("views may not be indexed")
    if table.kind == "virtual":
        raise errors.plain("virtual tables may not be indexed")
    schema_write.check_name(context, name)
    catalog = context.databases.catalog(number)
    if catalog.find_table(name) is not None:
        raise errors.already_named("table", name)
    if catalog.find_index(name) is not None:
        if statement.if_not_exists:
            return
        raise errors.already_exists("index", name)
    text = f"CREATE {'UNIQUE ' if statement.unique else ''}INDEX " + sql[statement.name_start : statement.text_end]
    index = index_from_ast(statement, table, 0, text)
    schema_expr.check_index(index, context.plan_context())
    for field in index.columns:
        if context.collations.lookup(field.collation) is None:
            raise errors.no_such_collation(field.collation)
    schema_write.begin(context, number)
    index.root = context.databases[number].pager.create_tree(True)
    schema_write.add_row(context, number, "index", name, table.name, index.root, text)
    extended = catalog.with_index(index)
    index_build.fill(context, index)
    schema_write.finish(context, number, extended)


def _find_table(context: CommandContext, statement: ast.CreateIndex) -> Table:
    """The table: in the schema that the index is named into, else where the name leads."""
    name = statement.table.text
    if statement.schema is None:
        table = context.catalogs.find_table(None, name)
        if table is None:
            if context.is_eponymous(name):
                raise errors.plain("virtual tables may not be indexed")
            raise errors.no_such_table(f"main.{name}")
        return table
    number = schema_write.target_database(context, statement.schema)
    table = context.databases.catalog(number).find_table(name)
    if table is None:
        if context.is_eponymous(name):
            raise errors.plain("virtual tables may not be indexed")
        if number == TEMP and context.catalogs.find_table(None, name) is not None:
            raise errors.plain(f'cannot create a TEMP index on non-TEMP table "{name}"')
        raise errors.no_such_table(f"{statement.schema.text}.{name}")
    return table
