"""REINDEX: build indexes anew, all of them, those of a table, one, or those that use a collation.

Follows "REINDEX" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.commands import index_build, schema_write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.commands.context import CommandContext
    from sqlvec.parse import ast
    from sqlvec.schema.objects import Index


def reindex(context: CommandContext, statement: ast.Reindex, sql: str) -> None:
    """Carry out the command."""
    if statement.name is None:
        for number in range(len(context.databases)):
            _rebuild_all(context, number, None)
        return
    name = statement.name.text
    if statement.schema is None and context.collations.lookup(name) is not None:
        for number in range(len(context.databases)):
            _rebuild_all(context, number, name.lower())
        return
    schema = None if statement.schema is None else statement.schema.text
    if schema is not None and context.databases.number_of(schema) is None:
        assert statement.schema is not None
        raise errors.unknown_database(schema, statement.schema.span[0])
    table = context.catalogs.find_table(schema, name)
    if table is not None:
        for index in table.indexes:
            rebuild(context, index)
        return
    found = context.catalogs.find_index(schema, name)
    if found is None:
        raise errors.plain("unable to identify the object to be reindexed")
    rebuild(context, found)


def _rebuild_all(context: CommandContext, number: int, collation: str | None) -> None:
    if number == 1 and not context.databases[number].is_open:
        return
    for table in context.databases.catalog(number).hash_order():
        if table.kind != "table":
            continue
        for index in table.indexes:
            if collation is None or any(field.collation.lower() == collation for field in index.columns[: index.key_count]):
                rebuild(context, index)


def rebuild(context: CommandContext, index: Index) -> None:
    """Empty an index tree and fill it again."""
    if index.is_table_tree:
        return
    number = index.table.database
    schema_write.begin(context, number)
    context.databases[number].pager.clear_tree(index.root)
    index_build.fill(context, index)
