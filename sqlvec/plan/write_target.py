"""The table that a statement writes: finding it, whether it may be written, and which of its columns are meant.

Follows "INSERT" (column list), "CREATE VIEW" (views are read-only without INSTEAD OF triggers) of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.plan.scope import ROWID_NAMES, Binding, Frame, Scope
from sqlvec.resolve import resolve
from sqlvec.schema.objects import Column, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.parse import ast
    from sqlvec.plan.write_set import WriteBinder


def find_target(binder: WriteBinder, binding: Binding, name: ast.TableName, event: str, assigned: set[str] | None) -> Table:
    """The table to write; errors where it doesn't exist or may not be written."""
    table = resolve("sqlvec.plan.from_:find_table")(name.schema, name.name, Scope(binding))
    binding.databases.add(table.database)
    lowered = table.name.lower()
    if table.kind == "table" and table.root == 1 and lowered in ("sqlite_master", "sqlite_temp_master"):
        if not binder.context.settings.writable_schema:
            raise errors.may_not_be(table.name, "modified")
    if table.kind == "virtual":
        instance = binder.context.connect_vtab(table.database, table.name)
        if instance is None or not getattr(instance, "is_writable", True):
            raise errors.may_not_be(table.name, "modified")
    if table.kind == "view":
        table = view_row_table(binder, table)
        if not binder.is_lenient and not binder.triggers(table, event, assigned):
            raise errors.plain(f"cannot modify {table.name} because it is a view")
    if name.indexed_by is not None and not any(index.name.lower() == name.indexed_by.text.lower() for index in table.indexes):
        raise errors.no_such_index(name.indexed_by.text)
    return table  # type: ignore[no-any-return]


def view_row_table(binder: WriteBinder, view: Table) -> Table:
    """A stand-in for a view that has its columns, with affinities and collations of its SELECT."""
    binding = binder.derived_binding()
    if view.database != 1:
        binding.schema = binder.context.catalogs.names[view.database]
    binding.views.append(view)
    query = resolve("sqlvec.plan.select:bind_select")(view.select, binding, None, Frame(None))
    names = view.view_columns or resolve("sqlvec.plan.from_:unique_names")(query.names)
    if len(names) != len(query.names):
        raise errors.view_columns(view.name, len(view.view_columns), len(query.names))
    columns = []
    for name, result in zip(names, query.results(), strict=True):
        columns.append(Column(name, "", result.affinity, result.collation or "BINARY"))
    made = Table(view.name, view.database, tuple(columns), 0, "view")
    made.select = view.select
    made.view_columns = tuple(names)
    made.triggers = view.triggers
    return made


def key_columns(table: Table) -> list[str]:
    """The names by which a query asks for the key of a row (all columns for a view; for a virtual table the rowid and all columns)."""
    if table.kind == "view":
        return [column.name for column in table.columns]
    if table.without_rowid and table.kind == "table":
        assert table.key_index is not None
        return [table.columns[field.column].name for field in table.key_index.columns[: table.key_index.key_count]]
    rowid = next((name for name in ("rowid", "_rowid_", "oid") if name not in table.by_name), "rowid")
    if table.rowid_column >= 0:
        rowid = table.columns[table.rowid_column].name
    if table.kind == "virtual":
        return [rowid, *(column.name for column in table.columns)]
    return [rowid]


def target_columns(table: Table, names: list[ast.Name] | None) -> tuple[tuple[int, ...], int]:
    """Per image position the place in a row of values (-1: none), and the number of values in a row."""
    targets = [-1] * (len(table.columns) + 1)
    if names is None:
        place = 0
        for number, column in enumerate(table.columns):
            if column.generated is None and not column.hidden:
                targets[number] = place
                place += 1
        return tuple(targets), place
    for place, name in enumerate(names):
        key = name.text.lower()
        number = table.by_name.get(key, -2)
        if number == -2:
            if key not in ROWID_NAMES or table.without_rowid or table.kind == "view":
                raise errors.plain(f"table {table.name} has no column named {name.text}")
            number = table.rowid_column
        elif table.columns[number].generated is not None:
            raise errors.plain(f'cannot INSERT into generated column "{table.columns[number].name}"')
        if targets[number] < 0:
            targets[number] = place
    return tuple(targets), len(names)
