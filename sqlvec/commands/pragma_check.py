"""integrity_check, quick_check, foreign_key_check, optimize.  Handlers take a PragmaCall (commands/pragma.py).

integrity_check looks at the page structure first (pages/integrity), then, table by table in schema-hash order, at every row: NOT NULL, storage classes, CHECK,
presence in each index, and each index's number of entries.  quick_check leaves the index contents out.

Follows "PRAGMA integrity_check" and "PRAGMA foreign_key_check" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.exec.dml.foreign_keys import is_stored, key_values
from sqlvec.exec.dml.index_entries import EntryMaker
from sqlvec.expr import bound
from sqlvec.expr.compile import compile_expressions
from sqlvec.pages.record import DAMAGED, decode, encode, fields_for_comparison
from sqlvec.plan.foreign_key_program import child_key
from sqlvec.plan.scope import ROWID_NAMES
from sqlvec.resolve import resolve
from sqlvec.values.storage import NUMERIC, TEXT, apply_affinity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from typing import Any

    from sqlvec.commands.pragma import PragmaCall
    from sqlvec.schema.objects import Table

    Rows = Iterable[tuple[Any, ...]] | None

DEFAULT_LIMIT = 100
_STRICT = {"INT": (int,), "INTEGER": (int,), "REAL": (float, int), "TEXT": (str,), "BLOB": (bytes,)}


def integrity_check(call: PragmaCall) -> Rows:
    """Rows of messages, or one row ``ok``."""
    limit, only = _arguments(call)
    numbers = [call.number] if call.qualified else list(range(len(call.context.databases)))
    return _messages(call, numbers, only, limit)


def _messages(call: PragmaCall, numbers: list[int], only: Table | None, limit: int) -> Iterator[tuple[Any, ...]]:
    """The messages as they are found: damage to a tree ends the check with an error, behind what was found before."""
    count = 0
    for number in numbers:
        if count >= limit:
            break
        call.context.transaction.begin_read(number)
        messages = _check_database(call, number, only, limit - count)
        while count < limit:
            try:
                message = next(messages)
            except StopIteration as end:
                if end.value:
                    return
                break
            count += 1
            yield (message,)
    if count == 0:
        yield ("ok",)


quick_check = integrity_check


def _arguments(call: PragmaCall) -> tuple[int, Table | None]:
    """The message limit and the one table to check, out of the pragma's value."""
    if call.value is None:
        return DEFAULT_LIMIT, None
    if call.value.lstrip("-+").isdigit():
        limit = int(call.value)
        return (limit if limit > 0 else DEFAULT_LIMIT), None
    schema = call.database.name if call.qualified else None
    table = call.context.databases.catalogs.find_table(schema, call.value)
    if table is None:
        raise errors.no_such_table(call.value if schema is None else f"{schema}.{call.value}")
    return DEFAULT_LIMIT, table


def _check_database(call: PragmaCall, number: int, only: Table | None, limit: int) -> Generator[str, None, bool]:
    """Messages about one database; the result says whether a record was met that ends everything."""
    databases = call.context.databases
    pager = databases[number].pager
    catalog = databases.catalog(number)
    tables = [table for table in catalog.hash_order() if table is not None and table.kind == "table" and (only is None or table is only)]
    if only is not None and not tables:
        return False
    # views count with root 0; where one comes first the original takes the check for one of a single table
    roots: list[int] = [] if only is None else [0]
    for table in catalog.hash_order_with_schema() if only is None else tables:
        if not table.without_rowid:
            roots.append(table.root)
        roots.extend(index.root for index in table.indexes)
    found = resolve("sqlvec.pages.integrity:check_structure")(pager, roots, limit)
    if found:
        yield (f"*** in database {databases[number].name} ***\n" + "\n".join(found))
    is_quick = call.name == "quick_check"
    for table in tables:
        if (yield from _check_table(call, table, is_quick)):
            return True
    return False


def _check_table(call: PragmaCall, table: Table, is_quick: bool) -> Generator[str, None, bool]:
    """Messages about the rows of one table.  A record that can't be read is the last one (True); damage to the tree raises."""
    context = call.context.run_context()
    write = resolve("sqlvec.plan.write_set:table_write")(table, call.context.plan_context())
    schema_format = context.databases[table.database].pager.schema_format
    makers = [] if is_quick else [EntryMaker(entry, write, context, schema_format) for entry in write.indexes]
    makers = [maker for maker in makers if maker.index.root != table.root]  # the PRIMARY KEY of a WITHOUT ROWID table is the table
    trees = [context.index_tree(maker.index) for maker in makers]
    counts = [0] * len(makers)
    checks = [] if call.context.settings.ignore_check_constraints else [compile_expressions((check,), write.columns, context) for check, _ in write.checks]
    repeated = [_repeated_entries(tree, maker.index) for maker, tree in zip(makers, trees, strict=True)]
    codec = resolve("sqlvec.exec.dml.row_images:RowCodec")(write, context)
    order = context.index_tree(table.key_index).layout if table.without_rowid and not is_quick else None
    previous: tuple[Any, ...] | None = None
    for position, (rowid, payload) in enumerate(_entries(table, context), 1):
        try:
            image = codec.image(payload, rowid)
        except errors.SqlError as damage:
            part = _readable_part(payload, codec, _needed_fields(table, makers, bool(checks)))
            if part is None:
                yield damage.message
                return True
            image = codec.image(part, rowid)
        if order is not None:
            key = codec.field_values(image)[:order.key_columns]
            if previous is not None and order.compare(previous, key) >= 0:
                yield f"row not in PRIMARY KEY order for {table.name}"
            previous = key
        yield from _check_values(table, image)
        if any(_is_false(check(image, None)[0]) for check in checks):
            yield f"CHECK constraint failed in {table.name}"
        for number, maker in enumerate(makers):
            values = maker.values(image)
            if values is None:
                continue
            counts[number] += 1
            if trees[number].contains_prefix(values) is None:
                yield f"row {position} missing from index {maker.index.name}"
            elif values in repeated[number]:
                yield f"non-unique entry in index {maker.index.name}"
    for maker, tree, count in zip(makers, trees, counts, strict=True):
        if tree.count_entries() != count:
            yield f"wrong # of entries in index {maker.index.name}"
    return False


def _needed_fields(table: Table, makers: list[EntryMaker], has_checks: bool) -> set[int]:
    """The record fields that the check of a row looks at."""
    everything = set(range(len(table.columns)))
    numbers = {
        number for number, column in enumerate(table.columns)
        if column.not_null is not None or table.strict or column.affinity != "A"
    }
    for maker in makers:
        if maker.expressions is not None or has_checks:
            return everything
        numbers.update(position for position in maker.positions if 0 <= position < len(table.columns))
        if maker.write.where is not None:
            numbers.update(number for _, number in bound.columns_of(maker.write.where) if number >= 0)
    return everything if has_checks else {table.fields[number] for number in numbers if number != table.rowid_column}


def _readable_part(payload: bytes, codec: Any, needed: set[int]) -> bytes | None:
    """A record with what can be read of a damaged one, NULL for the rest; None where a needed field is among that."""
    values = fields_for_comparison(payload, len(codec.fields), codec.encoding)
    if not values or values[-1] is not DAMAGED:
        return None
    values = values[:-1]
    if any(field >= len(values) for field in needed):
        return None
    return encode((*values, *[None] * (len(codec.fields) - len(values))), codec.encoding, codec.schema_format)


def _entries(table: Table, context: Any) -> Iterator[tuple[int | None, bytes]]:
    """(rowid, record) of all rows in tree order."""
    if table.without_rowid:
        for payloads in context.index_tree(table.key_index).blocks():
            for payload in payloads:
                yield None, payload
    else:
        for block in context.table_tree(table).blocks():
            yield from block


def _repeated_entries(tree: Any, index: Any) -> set[tuple[Any, ...]]:
    """The entries of a unique index that the next one repeats in all key columns, none of them NULL.

    Damage isn't this pass's business: it is met by the searches, or at the count of the entries."""
    found: set[tuple[Any, ...]] = set()
    if not index.unique:
        return found
    width = index.key_count
    previous: tuple[Any, ...] | None = None
    try:
        for block in tree.blocks():
            for payload in block:
                entry = _decoded(payload, tree.layout.encoding)
                if entry is not None and previous is not None:
                    key = entry[:width]
                    if None not in key and tree.layout.compare(previous[:width], key) == 0:
                        found.add(previous)
                previous = entry
    except errors.SqlError as error:
        if error.code != errors.CORRUPT:
            raise
    return found


def _decoded(payload: bytes, encoding: str) -> tuple[Any, ...] | None:
    try:
        return decode(payload, encoding)
    except errors.SqlError:
        return None


def _is_false(value: Any) -> bool:
    return value is not None and not resolve("sqlvec.exec.dml.index_entries:is_true")(value)


def _check_values(table: Table, image: tuple[Any, ...]) -> Iterator[str]:
    """NOT NULL and storage-class messages of one row; ``image`` starts with the columns of the table."""
    for number, column in enumerate(table.columns):
        if number == table.rowid_column:
            continue
        value = image[number]
        if column.not_null is not None and value is None:
            yield f"NULL value in {table.name}.{column.name}"
        if value is None:
            continue
        if table.strict:
            allowed = _STRICT.get(column.declared_type.upper())
            if allowed is not None and type(value) not in allowed:
                yield f"non-{column.declared_type.upper()} value in {table.name}.{column.name}"
        elif column.affinity == TEXT and type(value) in (int, float):
            yield f"NUMERIC value in {table.name}.{column.name}"
        elif column.affinity not in (TEXT, "A") and type(value) is str and type(apply_affinity(value, NUMERIC)) is not str:
            yield f"TEXT value in {table.name}.{column.name}"


def foreign_key_check(call: PragmaCall) -> Rows:
    """(table, rowid, parent, key number) of each row whose parent is missing."""
    databases = call.context.databases
    rows: list[tuple[Any, ...]] = []
    numbers = [call.number] if call.qualified else list(range(len(databases)))
    if call.value is not None:
        schema = call.database.name if call.qualified else None
        table = databases.catalogs.find_table(schema, call.value)
        if table is None:
            raise errors.no_such_table(call.value if schema is None else f"{schema}.{call.value}")
        return list(_violations(call, table))
    for number in numbers:
        if number == 1 and not databases[1].is_open:
            continue
        for table in databases.catalog(number).hash_order():
            if table is not None and table.kind == "table":
                rows.extend(_violations(call, table))
    return rows


def _violations(call: PragmaCall, table: Table) -> Iterator[tuple[Any, ...]]:
    """One row per row of ``table`` and foreign key whose parent row is missing: rows in order, for each its keys in order."""
    context = call.context
    database = context.databases[table.database]
    catalog = context.databases.catalog(table.database)
    keys = [child_key(foreign_key, catalog, database.name) for foreign_key in table.foreign_keys]
    for key in keys:
        if key.parent is not None and key.error is not None:
            raise key.error
    if not keys:
        return
    run_context = context.run_context()
    context.transaction.begin_read(table.database)
    columns = ", ".join(_quoted(column.name) for column in table.columns)
    rowid = "NULL" if table.without_rowid else next(name for name in ROWID_NAMES if name not in table.by_name)
    for number_of_row, *image in context.nested_sql(f"SELECT {rowid}, {columns} FROM {_quoted(database.name)}.{_quoted(table.name)} NOT INDEXED"):
        for number, key in enumerate(keys):
            if any(image[column] is None for column in key.columns):
                continue
            if key.parent is None or not is_stored(run_context, key, key_values(key, image)):
                yield table.name, number_of_row, key.foreign_key.parent, number


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def optimize(call: PragmaCall) -> Rows:
    """Nothing to report; statistics are gathered by ANALYZE only."""
    return None
