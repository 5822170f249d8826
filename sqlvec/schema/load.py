"""Reading a stored schema: rows of sqlite_schema become the objects of a Catalog.

``load_catalog`` takes the raw rows of the schema tree (rowid, record) and only sorts them by table name; ``build_table`` parses one table with its indexes
and triggers.  The declarations are parsed by the same parser and checked by the same functions as when they were made; what they refuse is a
``malformed database schema``.  With ``PRAGMA writable_schema`` rows that can't be used are passed over (``Catalog.tolerance``).

Follows "The Schema Table" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages.record import decode
from sqlvec.parse.parser import parse_statement
from sqlvec.resolve import resolve
from sqlvec.schema.catalog import EAGER_ROWS, NO_AGREEMENT, NO_ERRORS, STRICT, TEMP, Catalog, SchemaRow, fold
from sqlvec.schema.objects import Table, Trigger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

LAST_PAGE = 0xFFFFFFFE
KINDS = {"CreateTable": "table", "CreateVirtualTable": "table", "CreateView": "view", "CreateIndex": "index", "CreateTrigger": "trigger"}


def load_catalog(
    number: int, rows: Iterable[tuple[int, Any]], cookie: int = 0, encoding: str = "utf-8", name: str = "main", page_count: int = LAST_PAGE,
    tolerance: int = STRICT,
) -> Catalog:
    """The Catalog of database ``number`` from (rowid, record) pairs of its schema tree, in rowid order."""
    catalog = Catalog(number, cookie, encoding, name)
    catalog.tolerance = tolerance
    count = 0
    for rowid, payload in rows:
        values = decode(payload, encoding)
        count += 1
        try:
            catalog.add_row(_checked_row(rowid, values, page_count))
        except errors.SqlError:
            if tolerance != NO_ERRORS:
                raise
    if count <= EAGER_ROWS:
        catalog.parse_all()
    return catalog


def catalog_of_rows(number: int, rows: Iterable[tuple[Any, ...]], cookie: int = 0, name: str = "main") -> Catalog:
    """The Catalog of decoded rows (rowid, type, name, tbl_name, rootpage, sql)."""
    catalog = Catalog(number, cookie, "utf-8", name)
    for row in rows:
        catalog.add_row(_checked_row(row[0], tuple(row[1:])))
    catalog.parse_all()
    return catalog


def extended_catalog(catalog: Catalog, row: tuple[Any, ...]) -> Catalog:
    """The Catalog after one more row (rowid, type, name, tbl_name, rootpage, sql) came into sqlite_schema: how DDL goes on without reading everything."""
    kind, name, table_name, root, sql = row[1:6]
    statement = _parse(name, sql)
    if kind == "index":
        table = catalog.find_table(table_name)
        assert table is not None
        return catalog.with_index(resolve("sqlvec.schema.from_ast:index_from_ast")(statement, table, root, sql))
    if kind == "trigger":
        return catalog.with_trigger(resolve("sqlvec.schema.from_ast:trigger_from_ast")(statement, catalog.number, sql))
    return catalog.with_table(_table_of(catalog, statement, root, sql, {}))


def _checked_row(rowid: int, values: tuple[Any, ...], page_count: int = LAST_PAGE) -> SchemaRow:
    kind, name, table_name, root, sql = (*values, None, None, None, None, None)[:5]
    if root is None or name is None or kind is None:
        raise errors.malformed_schema(str(name) if name is not None else "?")
    if type(root) is float or (type(root) is str and root.isdecimal()):
        root = int(root)
    if type(root) is not int or not 0 <= root <= page_count:
        raise errors.malformed_schema(str(name), "invalid rootpage")
    return (rowid, str(kind).lower(), str(name), str(table_name if table_name is not None else ""), root, sql if sql != "" else None)


def _parse(name: str, sql: str | None) -> Any:
    if sql is None or not sql[:2].lower() == "cr":
        raise errors.malformed_schema(name)
    try:
        statement, _ = parse_statement(sql, is_stored=True)
    except errors.SqlError as error:
        raise errors.malformed_schema(name, error.message) from None
    if statement is None:
        raise errors.malformed_schema(name)
    return statement


def build_table(catalog: Catalog, key: str, rows: list[SchemaRow]) -> tuple[Table | None, list[Trigger], list[str]]:
    """The table of ``rows`` (all that name it), its triggers (newest first) and the folded names of its indexes."""
    autoindexes = {fold(row[2]): row[4] for row in rows if row[5] is None}
    table: Table | None = None
    triggers: list[Trigger] = []
    for row in rows:
        try:
            table = _enter_row(catalog, key, table, triggers, row, autoindexes)
        except errors.SqlError:
            if catalog.tolerance != NO_ERRORS:
                raise
    return table, triggers, [fold(index.name) for index in table.indexes] if table is not None else []


def _enter_row(catalog: Catalog, key: str, table: Table | None, triggers: list[Trigger], row: SchemaRow, autoindexes: dict[str, int]) -> Table | None:
    """Add what one row declares; the table so far comes and goes."""
    if row[5] is None:
        if table is None or all(fold(index.name) != fold(row[2]) for index in table.indexes):
            raise errors.malformed_schema(row[2], "orphan index")
        if row[4] < 2:
            raise errors.malformed_schema(row[2], "invalid rootpage")
        return table
    statement = _parse(row[2], row[5])
    _check_agreement(catalog, key, table, row, statement)
    kind = KINDS[type(statement).__name__]
    if kind == "trigger":
        triggers.insert(0, resolve("sqlvec.schema.from_ast:trigger_from_ast")(statement, catalog.number, row[5]))
    elif kind == "index":
        _guarded(row, lambda: _add_index(table, statement, row))  # type: ignore[arg-type]
    elif table is not None:
        raise errors.malformed_schema(row[2], f"{table.kind if table.kind == 'view' else 'table'} {table.name} already exists")
    else:
        return _guarded(row, lambda: _table_of(catalog, statement, row[4], row[5], autoindexes))  # type: ignore[no-any-return]
    return table


def _check_agreement(catalog: Catalog, key: str, table: Table | None, row: SchemaRow, statement: Any) -> None:
    """The other columns of a row must say what its text says; indexes and triggers come after their table."""
    kind = KINDS.get(type(statement).__name__)
    owner = statement.table.text if kind == "index" or kind == "trigger" else statement.name.text if kind is not None else ""
    if (kind == "index" or (kind == "trigger" and catalog.number != TEMP)) and (
        table is None if fold(owner) == key else catalog.find_table(owner) is None
    ):
        raise errors.malformed_schema(row[2], f"no such table: {catalog.name}.{owner}")
    if kind is not None and catalog.tolerance >= NO_AGREEMENT and fold(owner) == key:
        return
    if kind != row[1] or fold(statement.name.text) != fold(row[2]) or fold(owner) != fold(row[3]) or (row[4] == 1 and kind in ("table", "view")):
        raise errors.malformed_schema(row[2])


def _guarded(row: SchemaRow, make: Any) -> Any:
    try:
        return make()
    except errors.SqlError as error:
        if error.code == errors.CORRUPT:
            raise
        raise errors.malformed_schema(row[2], error.message) from None


def _add_index(table: Table, statement: Any, row: SchemaRow) -> None:
    index = resolve("sqlvec.schema.from_ast:index_from_ast")(statement, table, row[4], row[5])
    resolve("sqlvec.schema.from_ast:enter_index")(table, index)


def _table_of(catalog: Catalog, statement: Any, root: int, sql: str | None, autoindexes: dict[str, int]) -> Table:
    kind = type(statement).__name__
    number = catalog.number
    if kind == "CreateTable":
        return resolve("sqlvec.schema.from_ast:table_from_ast")(statement, number, root, sql, lambda name: autoindexes.get(fold(name), 0))
    if kind == "CreateView":
        return resolve("sqlvec.schema.from_ast:view_from_ast")(statement, number, sql)
    if kind == "CreateVirtualTable":
        return resolve("sqlvec.schema.from_ast:virtual_table_from_ast")(statement, number, sql)
    raise errors.malformed_schema(statement.name.text)
