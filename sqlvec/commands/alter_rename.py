"""ALTER TABLE ... RENAME TO and RENAME COLUMN.

The stored texts of the whole schema are gone through: every token that means the table or column is replaced in place (commands/references.py).  Before and
after, all views and triggers must bind.

A renamed table is always written in double quotes.  A renamed column is quoted where the new name was quoted in the statement, or the old token was.

Follows "ALTER TABLE" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.commands import references, schema_write
from sqlvec.parse.parser import parse_statement
from sqlvec.schema.from_ast import table_from_ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.commands.context import CommandContext
    from sqlvec.parse import ast
    from sqlvec.schema.objects import Table


def find_altered(context: CommandContext, schema: ast.Name | None, name: ast.Name) -> Table:
    """The table to alter, of any kind."""
    table = context.catalogs.find_table(schema.text if schema is not None else None, name.text)
    if table is None:
        if context.is_eponymous(name.text):
            raise errors.may_not_be(name.text, "altered")
        raise errors.no_such_table(name.text if schema is None else f"{schema.text}.{name.text}")
    return table


def refuse_system(context: CommandContext, table: Table) -> None:
    """Tables of the system may not be altered."""
    if table.name.lower().startswith("sqlite_"):
        raise errors.may_not_be(table.name, "altered")


def rename_table(context: CommandContext, statement: ast.AlterRenameTable, sql: str) -> None:
    """Carry out RENAME TO."""
    table = find_altered(context, statement.schema, statement.name)
    number = table.database
    new = statement.new_name.text
    catalog = context.databases.catalog(number)
    if catalog.find_table(new) is not None or catalog.find_index(new) is not None:
        raise errors.plain(f"there is already another table or index with this name: {new}")
    refuse_system(context, table)
    schema_write.check_name(context, new)
    if table.kind == "view":
        raise errors.plain(f"view {table.name} may not be altered")
    if table.kind == "virtual":
        _rename_virtual(context, table, new)
        return
    references.check_schema(context, number, "")
    spelled = schema_write.always_quoted(new)
    texts = _new_texts(context, number, table, None, lambda name: spelled)
    schema_write.begin(context, number)
    old_key = table.name.lower()
    prefix = f"sqlite_autoindex_{table.name}_".lower()

    def change(row: Any) -> Any:
        rowid, kind, name, owner, root, text = row
        text = texts.get((number, rowid), text)
        if (owner or "").lower() == old_key:
            if kind == "index" and name.lower().startswith(prefix) and text is None:
                name = f"sqlite_autoindex_{new}_{name[len(prefix):]}"
            owner = new
            name = new if kind == "table" else name
        return (rowid, kind, name, owner, root, text)

    schema_write.change_rows(context, number, change)
    _change_temp(context, number, texts, old_key, new, table)
    if catalog.find_table("sqlite_sequence") is not None:
        schema = schema_write.always_quoted(context.databases[number].name)
        context.nested_sql(f"UPDATE {schema}.sqlite_sequence SET name = ? WHERE name = ?", new, table.name)
    schema_write.finish(context, number)
    references.check_schema(context, number, "rename")


def _rename_virtual(context: CommandContext, table: Table, new: str) -> None:
    """A virtual table renames its shadow tables itself."""
    number = table.database
    schema_write.begin(context, number)
    instance = context.plan_context().connect_vtab(number, table.name)
    if instance is not None and hasattr(instance, "rename"):
        instance.rename(new)
    key = table.name.lower()
    statement, _ = parse_statement(table.sql or "")
    text = references.replaced(table.sql or "", [statement.name], lambda name: schema_write.always_quoted(new))  # type: ignore[union-attr]
    schema_write.change_rows(
        context, number, lambda row: (row[0], row[1], new, new, row[4], text) if row[1] == "table" and (row[2] or "").lower() == key else row
    )
    schema_write.finish(context, number)


def _change_temp(context: CommandContext, number: int, texts: dict[tuple[int, int], str], old_key: str, new: str, table: Table) -> None:
    """Views and triggers in temp may name the table too."""
    if number == 1 or not context.databases[1].is_open:
        return
    temp = context.databases.catalog(1)
    watching = {
        trigger.name.lower()
        for trigger in temp.triggers()
        if context.catalogs.database_of(trigger) == number and trigger.table_name.lower() == old_key
    }
    if not watching and not any(database == 1 for database, _ in texts):
        return
    schema_write.begin(context, 1)

    def change(row: Any) -> Any:
        rowid, kind, name, owner, root, text = row
        if kind == "trigger" and name.lower() in watching:
            owner = new
        return (rowid, kind, name, owner, root, texts.get((1, rowid), text))

    if schema_write.change_rows(context, 1, change):
        schema_write.finish(context, 1)


def rename_column(context: CommandContext, statement: ast.AlterRenameColumn, sql: str) -> None:
    """Carry out RENAME COLUMN."""
    table = find_altered(context, statement.schema, statement.name)
    refuse_system(context, table)
    if table.kind == "view":
        raise errors.plain(f'cannot rename columns of view "{table.name}"')
    if table.kind == "virtual":
        raise errors.plain(f'cannot rename columns of virtual table "{table.name}"')
    column = table.by_name.get(statement.column.text.lower())
    if column is None:
        raise errors.plain(f'no such column: "{sql[slice(*statement.column.span)]}"', statement.column.span[0])
    number = table.database
    new = statement.new_name
    references.check_schema(context, number, "")
    quoted = schema_write.always_quoted(new.text)

    def spell(name: ast.Name) -> str:
        return quoted if new.quoted or name.quoted else new.text

    texts = _new_texts(context, number, table, column, spell)
    schema_write.begin(context, number)
    _check_new_table(table, texts, context, number)
    schema_write.change_rows(context, number, lambda row: (*row[:5], texts.get((number, row[0]), row[5])))  # type: ignore[arg-type,return-value]
    if number != 1 and any(database == 1 for database, _ in texts):
        schema_write.begin(context, 1)
        schema_write.change_rows(context, 1, lambda row: (*row[:5], texts.get((1, row[0]), row[5])))  # type: ignore[arg-type,return-value]
        schema_write.finish(context, 1)
    schema_write.finish(context, number)
    references.check_schema(context, number, "rename")


def _check_new_table(table: Table, texts: dict[tuple[int, int], str], context: CommandContext, number: int) -> None:
    """The new text of the table must still be a table (no duplicate columns)."""
    for row in schema_write.rows(context, number):
        if row[1] == "table" and (row[2] or "").lower() == table.name.lower() and (number, row[0]) in texts:
            try:
                parsed, _ = parse_statement(texts[number, row[0]])
                table_from_ast(parsed, number)  # type: ignore[arg-type]
            except errors.SqlError as error:
                raise errors.while_altering(f"error in table {table.name} after rename: {error.message}") from None


def _new_texts(context: CommandContext, number: int, table: Table, column: int | None, spell: Any) -> dict[tuple[int, int], str]:
    """The rewritten texts by (database, rowid of the schema row)."""
    texts: dict[tuple[int, int], str] = {}
    for database in {number, 1}:
        if database == 1 and not context.databases[1].is_open:
            continue
        for row in schema_write.rows(context, database):
            try:
                text = _new_text(context, number, database, row, table, column, spell)
            except errors.SqlError:
                if not context.settings.writable_schema:
                    raise
                continue
            if text is not None:
                texts[database, row[0]] = text
    return texts


def _new_text(context: CommandContext, number: int, database: int, row: Any, table: Table, column: int | None, spell: Any) -> str | None:
    """The rewritten text of one schema row, None where nothing changes."""
    _, kind, name, owner, _, text = row
    if not text or not isinstance(text, str):
        return None
    catalog = context.databases.catalog(database)
    schema = None if database == 1 else context.catalogs.names[database]
    tokens: list[Any] = []
    if kind in ("table", "index") and database == number:
        statement, _ = parse_statement(text)
        is_own = (owner or "").lower() == table.name.lower()
        if statement is None or type(statement).__name__ == "CreateVirtualTable":
            return None
        if column is None:
            legacy = context.settings.legacy_alter_table
            tokens = references.table_tokens(statement, table.name, is_own, not legacy or context.settings.foreign_keys, not legacy)
        else:
            tokens = references.column_tokens(statement, table, table.columns[column].name, is_own)
    elif column is None and context.settings.legacy_alter_table:
        tokens = _watched_table(context, catalog, kind, name, table)
    elif kind == "view":
        view = catalog.find_table(name or "")
        assert view is not None and view.select is not None
        tokens = references.bound_tokens(references.bind_view(context, view), view.select, table, column, context, schema)
    elif kind == "trigger":
        tokens = _trigger_tokens(context, catalog.find_trigger(name or ""), table, column, database)
    strings = _strings(context, kind, name, text, catalog) if column is not None else []
    return references.replaced(text, tokens + strings, with_strings(spell, strings)) if tokens or strings else None


def _strings(context: CommandContext, kind: str | None, name: str | None, text: str, catalog: Any) -> list[Any]:
    if kind in ("view", "trigger"):
        tree: Any = None
    else:
        tree, _ = parse_statement(text)
    found = references.string_tokens(context, kind, name, tree, catalog)
    return [token for token in found if text[token.span[0]] == '"']


def with_strings(spell: Any, strings: list[Any]) -> Any:
    """A spelling that writes ``strings`` in single quotes."""
    spans = {name.span for name in strings}

    def spelled(name: ast.Name) -> str:
        if name.span in spans:
            return "'" + name.text.replace("'", "''") + "'"
        return spell(name)  # type: ignore[no-any-return]

    return spelled


def fix_strings(context: CommandContext, number: int) -> None:
    """Put all strings in double quotes of a schema into single quotes."""
    catalog = context.databases.catalog(number)

    def change(row: Any) -> Any:
        rowid, kind, name, owner, root, text = row
        if not text or (name or "").lower().startswith("sqlite_") or text[:14].lower() == "create virtual":
            return row
        strings = _strings(context, kind, name, text, catalog)
        return (rowid, kind, name, owner, root, references.replaced(text, strings, with_strings(None, strings))) if strings else row

    if schema_write.change_rows(context, number, change):
        schema_write.reload(context, number)


def _watched_table(context: CommandContext, catalog: Any, kind: str | None, name: str | None, table: Table) -> list[Any]:
    """With legacy_alter_table only the table that a trigger watches is renamed in it."""
    if kind != "trigger":
        return []
    trigger = catalog.find_trigger(name or "")
    if context.catalogs.database_of(trigger) != table.database or trigger.table_name.lower() != table.name.lower():
        return []
    return [trigger.statement.table]


def _trigger_tokens(context: CommandContext, trigger: Any, table: Table, column: int | None, database: int) -> list[Any]:
    schema = None if database == 1 else context.catalogs.names[database]
    statement = trigger.statement
    tokens = references.bound_tokens(references.bind_trigger(context, trigger), statement, table, column, context, schema)
    if context.catalogs.database_of(trigger) == table.database and trigger.table_name.lower() == table.name.lower():
        if column is None:
            tokens.append(statement.table)
        else:
            tokens += [name for name in statement.columns or () if name.text.lower() == table.columns[column].name.lower()]
    return tokens
