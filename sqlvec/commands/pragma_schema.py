"""Pragmas that list what exists: tables, columns, indexes, keys, functions.  Handlers take a PragmaCall (commands/pragma.py)."""
from __future__ import annotations

from sqlvec.commands.pragma import PRAGMAS
from sqlvec.resolve import resolve
from sqlvec.schema.objects import EXPRESSION, ROWID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.commands.pragma import PragmaCall
    from sqlvec.schema.objects import Index, Table

    Rows = list[tuple[Any, ...]] | None

STANDARD_TYPES = ("ANY", "BLOB", "INT", "INTEGER", "REAL", "TEXT")


def find_table(call: PragmaCall, name: str | None) -> Table | None:
    """The table that a pragma argument names, searched in the qualifying database if there is one."""
    if name is None:
        return None
    schema = call.database.name if call.qualified else None
    return call.context.databases.catalogs.find_table(schema, name)


def find_index(call: PragmaCall, name: str | None) -> Index | None:
    if name is None:
        return None
    schema = call.database.name if call.qualified else None
    found = call.context.databases.catalogs.find_index(schema, name)
    if found is None:
        table = find_table(call, name)
        found = table.key_index if table is not None and table.without_rowid else None
    return found


def result_columns(call: PragmaCall, table: Table) -> list[tuple[str, str]]:
    """Name and type of each column of a view, as its SELECT delivers them."""
    quoted = '"' + table.name.replace('"', '""') + '"'
    schema = '"' + call.context.databases[table.database].name.replace('"', '""') + '"'
    statement, _ = call.context.session.prepare(f"SELECT * FROM {schema}.{quoted}")
    types = statement.declared_types or (None,) * len(statement.names)
    return [(name, kind or "") for name, kind in zip(statement.names, types, strict=True)]


def shown_type(declared: str) -> str:
    """The declared type; the standard names in upper case."""
    return declared.upper() if declared.upper() in STANDARD_TYPES else declared


def _column_rows(call: PragmaCall, with_hidden: bool) -> Rows:
    table = find_table(call, call.value)
    if table is None:
        module = call.context.session.modules.find(call.value) if call.value else None
        if module is None or not module.eponymous:
            return []
        made = call.context.session.connect_table(call.number, call.value)
        return [(number, name, kind, 0, None, 0) + ((int(hidden),) if with_hidden else ())
                for number, (name, kind, hidden) in enumerate(made.columns) if with_hidden or not hidden]
    if table.kind == "view":
        return [(number, name, shown_type(kind), 0, None, 0) + ((0,) if with_hidden else ())
                for number, (name, kind) in enumerate(result_columns(call, table))]
    if table.kind == "virtual":
        call.context.session.connect_table(table.database, table.name)
    rows: list[tuple[Any, ...]] = []
    skipped = 0
    for number, column in enumerate(table.columns):
        hidden = 1 if column.hidden else 0 if column.generated is None else 3 if column.is_stored else 2
        if hidden and not with_hidden:
            skipped += 1
            continue
        row = (number - (0 if with_hidden else skipped), column.name, shown_type(column.declared_type), int(column.not_null is not None),
               column.default_text, column.key_position)
        rows.append((*row, hidden) if with_hidden else row)
    return rows


def table_info(call: PragmaCall) -> Rows:
    return _column_rows(call, False)


def table_xinfo(call: PragmaCall) -> Rows:
    return _column_rows(call, True)


def table_list(call: PragmaCall) -> Rows:
    databases = call.context.databases
    rows: list[tuple[Any, ...]] = []
    for number in range(len(databases) - 1, -1, -1):
        if call.qualified and number != call.number:
            continue
        catalog = databases.catalog(number)
        tables = [*catalog.hash_order(), catalog.schema_root()]
        for table in tables:
            if table is None or (call.value is not None and table.name.lower() != call.value.lower()):
                continue
            name = table.name
            if table is catalog.schema_root():
                name = "sqlite_temp_schema" if number == 1 else "sqlite_schema"
            if table.kind == "view":
                width = len(result_columns(call, table))
            else:
                width = len(table.columns)
            kind = _table_kind(call, table, tables)
            rows.append((databases[number].name, name, kind, width, int(table.without_rowid), int(table.strict)))
    return rows


def _table_kind(call: PragmaCall, table: Table, tables: list[Table]) -> str:
    if table.kind != "table":
        return table.kind
    lower = table.name.lower()
    for owner in tables:
        if owner is not None and owner.kind == "virtual" and lower.startswith(owner.name.lower() + "_"):
            module = call.context.session.modules.find(owner.module or "")
            names = getattr(module, "shadow_names", ())
            if lower[len(owner.name) + 1:] in names:
                return "shadow"
    return "table"


def index_list(call: PragmaCall) -> Rows:
    table = find_table(call, call.value)
    if table is None:
        return []
    return [(number, index.name, int(index.unique), index.origin, int(index.where is not None)) for number, index in enumerate(table.indexes)]


def _index_fields(index: Index) -> list[Any]:
    return list(index.columns)


def index_info(call: PragmaCall) -> Rows:
    index = find_index(call, call.value)
    if index is None:
        return []
    return [(number, field.column, _field_name(index, field)) for number, field in enumerate(index.columns[: index.key_count])]


def index_xinfo(call: PragmaCall) -> Rows:
    index = find_index(call, call.value)
    if index is None:
        return []
    return [(number, field.column, _field_name(index, field), int(field.descending), field.collation, int(number < index.key_count))
            for number, field in enumerate(index.columns)]


def _field_name(index: Index, field: Any) -> str | None:
    if field.column in (ROWID, EXPRESSION):
        return None
    return index.table.columns[field.column].name


def foreign_key_list(call: PragmaCall) -> Rows:
    table = find_table(call, call.value)
    if table is None:
        return []
    rows: list[tuple[Any, ...]] = []
    for number, key in enumerate(table.foreign_keys):
        for position, column in enumerate(key.columns):
            target = key.parent_columns[position] if key.parent_columns else None
            rows.append((number, position, key.parent, table.columns[column].name, target, key.on_update, key.on_delete, "NONE"))
    return rows


def database_list(call: PragmaCall) -> Rows:
    rows: list[tuple[Any, ...]] = []
    for number, database in enumerate(call.context.databases):
        if number == 1 and not database.is_open:
            continue
        rows.append((number, database.name, full_path(database.path)))
    return rows


def full_path(path: str) -> str:
    """The absolute path of a database file; "" for memory."""
    return "" if not path or path == ":memory:" else str(resolve("os.path:realpath")(path))


def collation_list(call: PragmaCall) -> Rows:
    return list(enumerate(call.context.collations.names()))


def function_list(call: PragmaCall) -> Rows:
    rows: list[tuple[Any, ...]] = []
    for function in call.context.functions.entries():
        kind = "w" if function.is_window or (function.is_aggregate and getattr(function, "can_window", False)) else "a" if function.is_aggregate else "s"
        arities = range(function.min_args, function.max_args + 1) if 0 <= function.max_args - function.min_args <= 2 else (-1,)
        rows.extend((function.name, int(function.builtin), kind, "utf8", arity, function.flags) for arity in arities)
    return rows


def module_list(call: PragmaCall) -> Rows:
    names = call.context.session.modules.names()
    return [(name,) for name in names]


def pragma_list(call: PragmaCall) -> Rows:
    return [(name,) for name in sorted(PRAGMAS) if not name.startswith("sqlvec_")]


def compile_options(call: PragmaCall) -> Rows:
    return [(option,) for option in resolve("sqlvec.functions.compile_options:OPTIONS")]
