"""ANALYZE: count index prefixes into sqlite_stat1.

One row per index: the number of entries, then for each prefix of the key columns the average number of entries per distinct value, rounded up (2 becomes 1
where less than a tenth of the entries repeat).  NULLs are equal to each other.  A table without a full index gets a row with its row count.

Follows "ANALYZE" of the manual; facts: the order of rows.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.commands import schema_write
from sqlvec.pages.record import encode
from sqlvec.schema.load import extended_catalog
from sqlvec.schema.statistics import carry_over, row_estimates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.commands.context import CommandContext
    from sqlvec.parse import ast
    from sqlvec.schema.objects import Index, Table

STAT1 = "CREATE TABLE sqlite_stat1(tbl,idx,stat)"


def analyze(context: CommandContext, statement: ast.Analyze, sql: str) -> None:
    """Carry out the command."""
    databases = context.databases
    if statement.name is None:
        for number in range(len(databases)):
            if number != 1:
                _analyze_database(context, number)
        return
    name = statement.name.text
    if statement.schema is None:
        database = databases.number_of(name)
        if database is not None:
            _analyze_database(context, database)
            return
    schema = None
    if statement.schema is not None:
        schema = statement.schema.text
        if databases.number_of(schema) is None:
            raise errors.unknown_database(schema, statement.schema.span[0])
    index = context.catalogs.find_index(schema, name)
    if index is not None:
        _analyze(context, index.table.database, [index.table], index, ("idx", index.name))
        return
    table = context.catalogs.find_table(schema, name)
    if table is None:
        if schema is None and context.is_eponymous(name):
            return
        raise errors.no_such_table(name if schema is None else f"{schema}.{name}")
    _analyze(context, table.database, [table], None, ("tbl", table.name))


def _analyze_database(context: CommandContext, number: int) -> None:
    _analyze(context, number, context.databases.catalog(number).hash_order(), None, None)


def _analyze(context: CommandContext, number: int, tables: list[Table], only: Index | None, scope: tuple[str, str] | None) -> None:
    """Analyze tables of one file; ``scope`` says which old rows go: (column, value), or all."""
    schema_write.begin(context, number)
    tree = _statistics_tree(context, number, scope)
    pager = context.databases[number].pager
    encoding, schema_format = pager.encoding, pager.header("schema_format")
    for table in tables:
        if table.kind != "table" or table.name.lower().startswith("sqlite_"):
            continue
        for row in _table_rows(context, table, only):
            tree.insert((tree.max_rowid() or 0) + 1, encode(row, encoding, schema_format))
    estimates = row_estimates(context.databases.catalog(number))
    schema_write.reload(context, number)
    carry_over(context.databases.catalog(number), estimates)


def _statistics_tree(context: CommandContext, number: int, scope: tuple[str, str] | None) -> Any:
    pager = context.databases[number].pager
    catalog = context.databases.catalog(number)
    table = catalog.find_table("sqlite_stat1")
    if table is None:
        root = pager.create_tree(False)
        row = schema_write.add_row(context, number, "table", "sqlite_stat1", "sqlite_stat1", root, STAT1)
        schema_write.finish(context, number, extended_catalog(catalog, row))
        return pager.table_tree(root)
    if scope is None:
        pager.clear_tree(table.root)
    else:
        schema = schema_write.always_quoted(context.databases[number].name)
        context.nested_sql(f"DELETE FROM {schema}.sqlite_stat1 WHERE {scope[0]}=?", scope[1])
    return pager.table_tree(table.root)


def _table_rows(context: CommandContext, table: Table, only: Index | None) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    needs_count = True
    run_context = context.run_context()
    for index in table.indexes:
        if only is not None and index is not only and index.name != only.name:
            continue
        if index.where is None:
            needs_count = False
        stat = index_statistics(run_context.index_tree(index), index.key_count)
        if stat is not None:
            found.append((table.name, table.name if index.is_table_tree else index.name, stat))
    if only is None and needs_count:
        count = run_context.table_tree(table).count_rows()
        if count:
            found.append((table.name, None, str(count)))
    return found


def index_statistics(tree: Any, key_count: int) -> str | None:
    """The stat text of an index, None when it is empty."""
    layout = tree.layout
    project = layout.prefix_projector(key_count)
    changes = [0] * key_count
    previous: Any = None
    total = 0
    columns = range(key_count)
    collated = any(collation is not None for collation in layout.collations[:key_count])
    for block in tree.blocks():
        for payload in block:
            values = project(payload)
            if collated:
                values = layout.sort_key(values)
                values = tuple(zip(values[::2], values[1::2], strict=True))
            total += 1
            if values != previous:
                for column in columns:
                    if previous is None or values[column] != previous[column]:
                        for later in range(column, key_count):
                            changes[later] += 1
                        break
                previous = values
    if not total:
        return None
    parts = [str(total)]
    for distinct in changes:
        average = (total + distinct - 1) // distinct
        if average == 2 and total * 10 <= distinct * 11:
            average = 1
        parts.append(str(average))
    return " ".join(parts)
