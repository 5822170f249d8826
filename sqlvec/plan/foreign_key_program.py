"""Foreign keys of a written table: how parents are found, and the programs of its ON DELETE and ON UPDATE actions.

A parent row is looked up through the parent's rowid or a UNIQUE index over exactly the referenced columns (with their own collations, not partial).
Actions are written as syntax, with OLD and NEW naming the parent row, and planned like trigger bodies; comparisons have the parent column on the left,
whose affinity and collation therefore count.

Follows "SQLite Foreign Key Support" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.parse import ast
from sqlvec.plan.expressions import bind_expression
from sqlvec.plan.physical_dml import ChildKey, ParentKey
from sqlvec.plan.trigger_program import new_program, program_scope
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.plan.physical_dml import Program, TableWrite
    from sqlvec.plan.write_set import WriteBinder
    from sqlvec.schema.objects import ForeignKey, Index, Table

_NOWHERE = (0, 0)


def _name(text: str) -> ast.Name:
    return ast.Name(text, _NOWHERE, '"')


def _column(table: str | None, column: str) -> ast.Node:
    return ast.ColumnRef(None, None if table is None else _name(table), _name(column), _NOWHERE)


def add_foreign_keys(binder: WriteBinder, write: TableWrite) -> None:
    """Fill in ``child_keys`` and ``parent_keys``."""
    table = write.table
    catalog = binder.context.catalogs[table.database]
    schema = binder.context.catalogs.names[table.database]
    write.child_keys = tuple(child_key(foreign_key, catalog, schema) for foreign_key in table.foreign_keys)
    found: list[ParentKey] = []
    for child in reversed(catalog.tables()):
        if child.kind != "table":
            continue
        for foreign_key in child.foreign_keys:
            if foreign_key.parent.lower() == table.name.lower():
                key = ParentKey(foreign_key, ())
                try:
                    key.columns = parent_columns(foreign_key, table)[0]
                except errors.SqlError as error:
                    key.error = error
                found.append(key)
    write.parent_keys = tuple(found)
    for key in found:
        if key.error is None:
            _add_programs(binder, write, key)


def check_keys(write: TableWrite, assigned: set[int] | None) -> None:
    """Raise what is wrong with the foreign keys that a statement concerns (``assigned``: the columns of an UPDATE, else None)."""
    is_concerned = assigned is None or any(not assigned.isdisjoint(key.columns) for key in write.child_keys)
    is_concerned = is_concerned or any(_is_key_assigned(key, write.table, assigned or set()) for key in write.parent_keys)
    for key in write.child_keys:
        if key.error is not None and (assigned is None or not assigned.isdisjoint(key.columns)):
            raise key.error
    for parent_key in write.parent_keys:
        if parent_key.error is not None and is_concerned:
            raise parent_key.error


def _is_key_assigned(key: ParentKey, table: Table, assigned: set[int]) -> bool:
    names = [name.lower() for name in key.foreign_key.parent_columns]
    return any(table.columns[number].name.lower() in names or (not names and table.columns[number].key_position) for number in assigned if number >= 0)


def child_key(foreign_key: ForeignKey, catalog: Any, schema: str) -> ChildKey:
    """How to find the parent row of ``foreign_key``; ``error`` where that cannot be done."""
    parent = catalog.find_table(foreign_key.parent)
    key = ChildKey(foreign_key, parent)
    if parent is None:
        key.error = errors.no_such_table(f"{schema}.{foreign_key.parent}")
        return key
    try:
        if parent.kind != "table":
            raise mismatch(foreign_key)
        key.parent_columns, key.parent_index, key.order = parent_columns(foreign_key, parent)
        key.affinities = tuple(parent.columns[column].affinity for column in key.parent_columns)  # type: ignore[misc]
    except errors.SqlError as error:
        key.error = error
    return key


def mismatch(foreign_key: ForeignKey) -> errors.SqlError:
    return errors.plain(f'foreign key mismatch - "{foreign_key.table.name}" referencing "{foreign_key.parent}"')


def parent_columns(foreign_key: ForeignKey, parent: Table) -> tuple[tuple[int, ...], Index | None, tuple[int, ...]]:
    """(parent columns in the order of the child columns, the index to look them up in, per index column the place in the child key)."""
    names = foreign_key.parent_columns
    count = len(foreign_key.columns)
    if count == 1 and parent.rowid_column >= 0:
        alias = parent.columns[parent.rowid_column].name
        if not names or names[0].lower() == alias.lower():
            return (parent.rowid_column,), None, (0,)
    for index in parent.indexes:
        if index.key_count != count or not index.unique or index.where is not None:
            continue
        fields = index.columns[:count]
        if any(field.column < 0 for field in fields):
            continue
        if not names:
            if index.origin == "pk":
                return tuple(field.column for field in fields), index, tuple(range(count))
            continue
        order = _match(fields, names, parent)
        if order is not None:
            by_child = {place: field.column for field, place in zip(fields, order, strict=True)}
            return tuple(by_child[place] for place in range(count)), index, tuple(order)
    raise mismatch(foreign_key)


def _match(fields: Any, names: tuple[str, ...], parent: Table) -> list[int] | None:
    order: list[int] = []
    for field in fields:
        column = parent.columns[field.column]
        if field.collation.lower() != column.collation.lower():
            return None
        place = next((place for place, name in enumerate(names) if name.lower() == column.name.lower()), None)
        if place is None:
            return None
        order.append(place)
    return order if len(set(order)) == len(order) else None


# --- programs ------------------------------------------------------------------------------------------------------------------------------


def _matches(key: ParentKey, parent: Table, from_child: str | None) -> ast.Node:
    """``old.p1 = c1 AND old.p2 = c2 ...``"""
    child = key.foreign_key.table
    terms: list[ast.Node] = [
        ast.Binary("=", _column("old", parent.columns[mine].name), _column(from_child, child.columns[theirs].name), _NOWHERE)
        for mine, theirs in zip(key.columns, key.foreign_key.columns, strict=True)
    ]
    return terms[0] if len(terms) == 1 else ast.Nary("AND", terms, _NOWHERE)


def _select(columns: list[Any], child: Table, schema: str, where: ast.Node) -> ast.Select:
    table = ast.TableName(_name(schema), _name(child.name), None, None, False, None, _NOWHERE)
    core = ast.SelectCore(False, columns, [ast.JoinItem(table, 0, None, None, _NOWHERE)], where, [], None, [], _NOWHERE)
    return ast.Select(None, core, [], None, None, _NOWHERE)


def _add_programs(binder: WriteBinder, write: TableWrite, key: ParentKey) -> None:
    parent = write.table
    child = key.foreign_key.table
    schema = binder.context.catalogs.names[parent.database]
    where = _matches(key, parent, None)
    if child is parent or child.name.lower() == parent.name.lower():
        key.self_referencing = True
        where = ast.Nary("AND", [where, _is_another_row(parent)], _NOWHERE)
    star = ast.FunctionCall(_name("count"), [], True, False, None, None, _NOWHERE)
    key.count = _program(binder, write, ("count", id(key)), "UPDATE")
    _add_statement(binder, write, key.count, _select([ast.ResultColumn(star, None, "count(*)", _NOWHERE)], child, schema, where))
    for event, action in (("DELETE", key.on_delete), ("UPDATE", key.on_update)):
        key.actions[event] = None if action == "NO ACTION" else _action(binder, write, key, event, action, schema)


def _is_another_row(parent: Table) -> ast.Node:
    """A row that refers to itself doesn't count."""
    if not parent.without_rowid:
        return ast.Binary("!=", _column(None, "rowid"), _column("old", "rowid"), _NOWHERE)
    assert parent.key_index is not None
    terms: list[ast.Node] = [
        ast.Binary("IS", _column(None, field.name), _column("old", field.name), _NOWHERE)
        for field in parent.key_index.columns[: parent.key_index.key_count]
    ]
    return ast.Unary("NOT", terms[0] if len(terms) == 1 else ast.Nary("AND", terms, _NOWHERE), _NOWHERE)


def _program(binder: WriteBinder, write: TableWrite, token: Any, event: str) -> Program:
    program = new_program(binder, "", token, write.table)
    program.is_recursive = True
    return program


def _add_statement(binder: WriteBinder, write: TableWrite, program: Program, statement: ast.Statement) -> None:
    binding = binder.derived_binding()
    binding.in_trigger = True
    binding.schema = binder.context.catalogs.names[write.table.database]
    scope = program_scope(binding, program, write.table, "UPDATE")
    program.statements.append(resolve("sqlvec.plan.dml:plan_part")(binder, statement, scope))


def _action(binder: WriteBinder, write: TableWrite, key: ParentKey, event: str, action: str, schema: str) -> Program:
    parent = write.table
    foreign_key = key.foreign_key
    child = foreign_key.table
    program = _program(binder, write, (event, id(key)), event)
    where = _matches(key, parent, None)
    table = ast.TableName(None, _name(child.name), None, None, False, None, _NOWHERE)
    statement: ast.Statement
    if action == "RESTRICT":
        failure = ast.Raise("ABORT", "FOREIGN KEY constraint failed", _NOWHERE)
        statement = _select([ast.ResultColumn(failure, None, "", _NOWHERE)], child, schema, where)
    elif action == "CASCADE" and event == "DELETE":
        statement = ast.Delete(None, table, where, None, [], None, None, _NOWHERE)
    else:
        sets = []
        for mine, theirs in zip(key.columns, foreign_key.columns, strict=True):
            column = child.columns[theirs]
            value: ast.Node = ast.Literal("null", None, _NOWHERE)
            if action == "CASCADE":
                value = _column("new", parent.columns[mine].name)
            elif action == "SET DEFAULT" and column.default is not None:
                value = column.default
            sets.append(ast.SetClause([_name(column.name)], False, value, _NOWHERE))
        statement = ast.Update(None, None, table, sets, [], where, None, [], None, None, _NOWHERE)
    if event == "UPDATE":
        same: list[ast.Node] = [
            ast.Binary("IS", _column("old", parent.columns[mine].name), _column("new", parent.columns[mine].name), _NOWHERE) for mine in key.columns
        ]
        changed = ast.Unary("NOT", same[0] if len(same) == 1 else ast.Nary("AND", same, _NOWHERE), _NOWHERE)
        binding = binder.derived_binding()
        binding.in_trigger = True
        program.when = bind_expression(changed, program_scope(binding, program, parent, "UPDATE"))
    _add_statement(binder, write, program, statement)
    return program
