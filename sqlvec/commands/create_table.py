"""CREATE TABLE and CREATE TABLE ... AS SELECT.

The declaration is checked completely before anything is written.  Then pages in this order: the table's root, the roots of automatic indexes in
order of their constraints, and, for the first AUTOINCREMENT table of a file, sqlite_sequence; rows of sqlite_schema in the same order.

While a SELECT fills its new table, the schema row of the table is a placeholder of NULLs, and nothing knows the table.

The stored text is ``CREATE TABLE `` and the source from the name to the last token.  For AS SELECT it is composed from the columns' names and
affinities (:func:`composed_text`).

Follows "CREATE TABLE" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.commands import schema_write
from sqlvec.pages.record import encode, integer_form
from sqlvec.resolve import resolve
from sqlvec.schema.from_ast import table_from_ast
from sqlvec.schema.load import extended_catalog
from sqlvec.values.storage import AFFINITY_FUNCTIONS, BLOB, INTEGER, NUMERIC, REAL, TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.commands.context import CommandContext
    from sqlvec.parse import ast
    from sqlvec.schema.objects import Table

_TYPE_OF_AFFINITY = {None: "", BLOB: "", TEXT: "TEXT", NUMERIC: "NUM", INTEGER: "INT", REAL: "REAL"}


def prepare_name(context: CommandContext, statement: Any, kind: str) -> int | None:
    """Common checks of CREATE TABLE and CREATE VIEW: the database number, or None when IF NOT EXISTS makes it a no-op."""
    if statement.temp and statement.schema is not None and statement.schema.text.lower() != "temp":
        raise errors.plain("temporary table name must be unqualified")
    number = schema_write.target_database(context, statement.schema, statement.temp)
    name = statement.name.text
    schema_write.check_name(context, name)
    catalog = context.databases.catalog(number)
    existing = catalog.find_table(name)
    if existing is not None:
        if statement.if_not_exists:
            return None
        raise errors.already_exists("view" if existing.kind == "view" else "table", statement.name.written, statement.name.span[0])
    if catalog.find_index(name) is not None:
        raise errors.already_named("index", name)
    return number


def create_table(context: CommandContext, statement: ast.CreateTable, sql: str) -> None:
    """Carry out the command."""
    number = prepare_name(context, statement, "table")
    if number is None:
        return
    if statement.as_select is not None:
        _create_as_select(context, statement, number)
        return
    text = "CREATE TABLE " + sql[statement.name_start : statement.text_end]
    table = table_from_ast(statement, number, 0, text)
    check_expressions(context, table)
    store_table(context, number, table, text)


def check_expressions(context: CommandContext, table: Table) -> None:
    """Bind CHECKs, generated columns and defaults once, so that their errors show when the table is made."""
    resolve("sqlvec.plan.schema_expr:check_table")(table, context.plan_context())
    used = [column.collation for column in table.columns] + [field.collation for index in table.indexes for field in index.columns]
    for name in used:
        if context.collations.lookup(name) is None:
            raise errors.no_such_collation(name)


def store_table(context: CommandContext, number: int, table: Table, text: str) -> None:
    """Allocate the trees and write the schema rows of a checked table."""
    schema_write.begin(context, number)
    pager = context.databases[number].pager
    catalog = context.databases.catalog(number)
    table.root = pager.create_tree(table.without_rowid)
    if table.key_index is not None:
        table.key_index.root = table.root
    automatic = [index for index in table.indexes if not index.is_table_tree]
    automatic.sort(key=lambda index: int(index.name.rpartition("_")[2]))
    for index in automatic:
        index.root = pager.create_tree(True)
    schema_write.add_row(context, number, "table", table.name, table.name, table.root, text)
    for index in automatic:
        schema_write.add_row(context, number, "index", index.name, table.name, index.root, None)
    catalog = catalog.with_table(table)
    if table.autoincrement and catalog.find_table("sqlite_sequence") is None:
        row = schema_write.add_row(
            context, number, "table", "sqlite_sequence", "sqlite_sequence", pager.create_tree(False), "CREATE TABLE sqlite_sequence(name,seq)"
        )
        catalog = extended_catalog(catalog, row)
    schema_write.finish(context, number, catalog)


# --- AS SELECT ---------------------------------------------------------------------------------------------------------------------------


def _create_as_select(context: CommandContext, statement: ast.CreateTable, number: int) -> None:
    select = statement.as_select
    assert select is not None
    plan = context.plan(select)
    names = unique_names(plan.names)
    affinities = [column.affinity for column in plan.root.columns]
    name = statement.name.text
    text = composed_text(name, names, [_TYPE_OF_AFFINITY[affinity] for affinity in affinities])
    parsed, _ = resolve("sqlvec.parse.parser:parse_statement")(text)
    table = table_from_ast(parsed, number, 0, text)
    schema_write.begin(context, number)
    pager = context.databases[number].pager
    table.root = pager.create_tree(False)
    row = schema_write.add_placeholder(context, number)
    try:
        _store_rows(context, table, plan)
    except errors.SqlError as error:
        error.phase = error.phase or "step"
        raise
    schema_write.fill_placeholder(context, number, (row, "table", name, name, table.root, text))
    schema_write.finish(context, number, context.databases.catalog(number).with_table(table))


def _store_rows(context: CommandContext, table: Table, plan: Any) -> None:
    pager = context.databases[table.database].pager
    tree = pager.table_tree(table.root)
    convert = [AFFINITY_FUNCTIONS[column.affinity] for column in table.columns]
    real = [position for position, column in enumerate(table.columns) if column.affinity == REAL]
    encoding, schema_format = pager.encoding, pager.header("schema_format")
    for rowid, row in enumerate(context.execute(plan), 1):
        values = [function(value) for function, value in zip(convert, row, strict=True)]
        for position in real:
            value = values[position]
            if type(value) is float:
                values[position] = integer_form(value)
        tree.insert(rowid, encode(tuple(values), encoding, schema_format))


def unique_names(names: tuple[str, ...]) -> list[str]:
    """Column names of a view or new table: repeated ones get ``:1``, ``:2`` ..."""
    found: list[str] = []
    seen: set[str] = set()
    for name in names:
        candidate = name
        count = 0
        stem = name
        if name.rpartition(":")[2].isdigit() and ":" in name:
            stem = name.rpartition(":")[0]
        while candidate.lower() in seen:
            count += 1
            candidate = f"{stem}:{count}"
        seen.add(candidate.lower())
        found.append(candidate)
    return found


def composed_text(table: str, names: list[str], types: list[str]) -> str:
    """The CREATE TABLE text that AS SELECT stores: on one line when short."""
    size = sum(len(name.encode()) + name.count('"') + 7 for name in names) + len(table.encode()) + table.count('"') + 2
    first, between, last = ("", ",", ")") if size < 50 else ("\n  ", ",\n  ", "\n)")
    columns = [schema_write.quoted(name) + (f" {declared}" if declared else "") for name, declared in zip(names, types, strict=True)]
    return f"CREATE TABLE {schema_write.quoted(table)}({first}{between.join(columns)}{last}"

