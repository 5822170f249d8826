"""Changing sqlite_schema: its rows, the schema cookie, and the Catalog that follows.

Every schema change goes through here in three steps: make the database writable (:func:`begin`), write rows of the schema tree (root 1), and
:func:`finish`: count the cookie up and install the next Catalog, made from the old one where that is simple, else read again at next use.

Follows "The Schema Table" of the manual; facts: a cookie step per statement.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages.record import decode, encode
from sqlvec.parse.lexer import KEYWORDS
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlvec.commands.context import CommandContext
    from sqlvec.parse.ast import Name
    from sqlvec.schema.catalog import Catalog

TEMP = 1
Row = tuple[int, "str | None", "str | None", "str | None", "int | None", "str | None"]


def target_database(context: CommandContext, schema: Name | None, temp: bool = False) -> int:
    """The database that a CREATE statement names."""
    if temp:
        return TEMP
    if schema is None:
        return 0
    number = context.databases.number_of(schema.text)
    if number is None:
        raise errors.unknown_database(schema.text, schema.span[0])
    return number


def begin(context: CommandContext, number: int) -> None:
    """A schema change of this database begins."""
    context.transaction.begin_write(number)
    context.databases[number].pager.initialise_schema_fields()


def schema_tree(context: CommandContext, number: int) -> Any:
    return context.databases[number].pager.table_tree(1)


def rows(context: CommandContext, number: int) -> list[Row]:
    """All rows of sqlite_schema: (rowid, type, name, tbl_name, rootpage, sql)."""
    pager = context.databases[number].pager
    found: list[Row] = []
    if pager.page_count:
        for block in pager.table_tree(1).blocks():
            for rowid, payload in block:
                values = decode(payload, pager.encoding)
                found.append((rowid, *(values + (None,) * 5)[:5]))  # type: ignore[arg-type]
    return found


def add_row(context: CommandContext, number: int, kind: str, name: str, table: str, root: int, sql: str | None) -> Row:
    """A new row at the end of sqlite_schema."""
    pager = context.databases[number].pager
    tree = pager.table_tree(1)
    rowid = (tree.max_rowid() or 0) + 1
    tree.insert(rowid, encode((kind, name, table, root, sql), pager.encoding, pager.header("schema_format") or 4))
    return (rowid, kind, name, table, root, sql)


def add_placeholder(context: CommandContext, number: int) -> int:
    """A row of NULLs at the end of sqlite_schema, for a table whose content is being made; returns its rowid."""
    pager = context.databases[number].pager
    tree = pager.table_tree(1)
    rowid = (tree.max_rowid() or 0) + 1
    tree.insert(rowid, encode((None,) * 5, pager.encoding, pager.header("schema_format") or 4))
    return rowid  # type: ignore[no-any-return]


def fill_placeholder(context: CommandContext, number: int, row: Row) -> None:
    """Turn the placeholder into the true row."""
    pager = context.databases[number].pager
    pager.table_tree(1).insert(row[0], encode(row[1:], pager.encoding, pager.header("schema_format") or 4))


def change_rows(context: CommandContext, number: int, change: Callable[[Row], Row | None]) -> int:
    """Pass every row through ``change``: a different row is stored, None deletes it.  Returns how many changed."""
    pager = context.databases[number].pager
    tree = pager.table_tree(1)
    schema_format = pager.header("schema_format") or 4
    count = 0
    for row in rows(context, number):
        new = change(row)
        if new is None:
            tree.delete(row[0])
            count += 1
        elif new != row:
            tree.insert(row[0], encode(new[1:], pager.encoding, schema_format))
            count += 1
    return count


def finish(context: CommandContext, number: int, catalog: Catalog | None = None) -> None:
    """Count the schema cookie up and install ``catalog`` (None: read the schema again).

    It is read at once: later statements of this connection are prepared under the schema that this one left, whatever others do meanwhile."""
    pager = context.databases[number].pager
    cookie = (pager.header("schema_cookie") + 1) & 0xFFFFFFFF
    pager.set_header("schema_cookie", cookie)
    context.transaction.schema_was_changed = True
    context.databases.install(number, None if catalog is None else catalog.with_cookie(pager.schema_cookie))
    if catalog is None:
        try:
            context.databases.catalog(number)
        except errors.SqlError:
            pass                                   # told by the statement that needs it


def reload(context: CommandContext, number: int) -> None:
    """Read the schema again without a cookie step."""
    context.transaction.schema_was_changed = True
    context.databases.install(number, None)


def extend(catalog: Catalog, row: Row) -> Catalog:
    """The Catalog after one more row."""
    return resolve("sqlvec.schema.load:extended_catalog")(catalog, row)  # type: ignore[no-any-return]


def root_moved(context: CommandContext, number: int, old: int, new: int) -> None:
    """Auto-vacuum moved a root page: correct the row that names it."""
    change_rows(context, number, lambda row: (*row[:4], new, row[5]) if row[4] == old else row)  # type: ignore[arg-type,return-value]


def drop_trees(context: CommandContext, number: int, roots: list[int]) -> None:
    """Free trees, the largest root page first; other roots that auto-vacuum moves are followed."""
    if roots and context.transaction.active_reads + context.transaction.active_writes > 1:
        raise errors.table_locked_plain()           # another statement may stand in the tree
    pager = context.databases[number].pager
    waiting = sorted((root for root in roots if root > 1), reverse=True)
    while waiting:
        root = waiting.pop(0)
        moved = pager.drop_tree(root)
        if moved:
            root_moved(context, number, moved, root)
            waiting = sorted((root if other == moved else other for other in waiting), reverse=True)


def check_name(context: CommandContext, name: str) -> None:
    """Names that begin with sqlite_ are reserved (unless the schema is writable).

    Where the schema hasn't been read yet, the error carries the code of a changed schema, as in SQLite."""
    if name[:7].lower() != "sqlite_" or context.settings.writable_schema or getattr(context.session, "is_nested", False):
        context.databases.read_schema(0)
        return
    error = errors.reserved_name(name)
    database = context.databases[0]
    if database.loaded is None and database.is_open:
        database.pager.begin_read()
        try:
            if database.pager.schema_cookie:
                error = errors.SqlError(errors.SCHEMA, error.message)
                error.phase = "prepare"
        finally:
            database.pager.end_read()
    raise error


def quoted(name: str) -> str:
    """A name as SQL text: in double quotes where it is no plain identifier or is a keyword."""
    plain = name.isascii() and name.replace("_", "a").isalnum() and not name[0].isdigit() and name.upper() not in KEYWORDS
    return name if plain else always_quoted(name)


def always_quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
