"""What an authorizer is asked about commands: everything but SELECT, INSERT, UPDATE and DELETE (for which see plan/authorize.py).

A command is asked about when it is prepared: first, where it changes the schema, about the row of the schema table that it writes or deletes, then about the
action itself with its two arguments and database.  What SQLite asks while it carries a command out by SQL of its own (updates of single columns
of the schema table, the copies of VACUUM, automatic indexes of CREATE TABLE) isn't asked.

A command whose object doesn't exist is asked nothing: its own error follows.  Refusal is "not authorized"; an ignored command does nothing.

Follows "Authorizer Action Codes" of the manual.
"""
from __future__ import annotations

from sqlvec.parse import ast
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.schema.objects import Table
    from sqlvec.session.session import Session

    Question = tuple[int, str | None, str | None, str | None]

CREATE_INDEX, CREATE_TABLE, CREATE_TRIGGER, CREATE_VIEW = 1, 2, 7, 8
CREATE_TEMP = {CREATE_INDEX: 3, CREATE_TABLE: 4, CREATE_TRIGGER: 5, CREATE_VIEW: 6}
DROP_INDEX, DROP_TABLE, DROP_TRIGGER, DROP_VIEW = 10, 11, 16, 17
DROP_TEMP = {DROP_INDEX: 12, DROP_TABLE: 13, DROP_TRIGGER: 14, DROP_VIEW: 15}
DELETE, INSERT, PRAGMA, READ, TRANSACTION, ATTACH, DETACH, ALTER_TABLE = 9, 18, 19, 20, 22, 24, 25, 26
REINDEX, ANALYZE, CREATE_VTABLE, DROP_VTABLE, SAVEPOINT = 27, 28, 29, 30, 32


def ask(session: Session, statement: Any) -> None:
    """Ask about a command that is being prepared.  Errors: "not authorized"; Ignored."""
    questions = _QUESTIONS.get(type(statement).__name__)
    if questions is None:
        return
    check = resolve("sqlvec.plan.authorize:check")
    for action, first, second, schema in questions(session, statement):
        check(session.authorize(action, first, second, schema, None))


def _text(name: ast.Name | None) -> str | None:
    return name.text if name is not None else None


def _written(node: ast.Node | None) -> str | None:
    """The text of a literal or a lone identifier; None for what must be computed."""
    if isinstance(node, ast.Literal):
        return str(node.value)
    if isinstance(node, ast.ColumnRef) and node.table is None:
        return node.column.text
    return None


def _schema_name(session: Session, name: ast.Name | None, is_temp: bool) -> str | None:
    """The database that an object is made in; None when there is none of that name."""
    if is_temp:
        return "temp"
    if name is None:
        return "main"
    number = session.databases.number_of(name.text)
    return None if number is None else session.databases[number].name


def _schema_table(schema: str) -> str:
    return "sqlite_temp_master" if schema == "temp" else "sqlite_master"


def _create(action: int, first: str, second: str | None, schema: str | None) -> Iterator[Question]:
    if schema is None:
        return
    made: Question = (CREATE_TEMP.get(action, action) if schema == "temp" else action, first, second, schema)
    row: Question = (INSERT, _schema_table(schema), None, schema)
    yield from (made, row) if action == CREATE_TRIGGER else (row, made)


def _create_table(session: Session, node: Any) -> Iterator[Question]:
    return _create(CREATE_TABLE, node.name.text, None, _schema_name(session, node.schema, node.temp))


def _create_view(session: Session, node: Any) -> Iterator[Question]:
    return _create(CREATE_VIEW, node.name.text, None, _schema_name(session, node.schema, node.temp))


def _create_virtual_table(session: Session, node: Any) -> Iterator[Question]:
    return _create(CREATE_VTABLE, node.name.text, node.module.text, _schema_name(session, node.schema, False))


def _find(session: Session, schema: ast.Name | None, name: ast.Name) -> Table | None:
    return session.databases.catalogs.find_table(_text(schema), name.text)


def _create_index(session: Session, node: Any) -> Iterator[Question]:
    table = _find(session, node.schema, node.table)
    if table is None or table.kind != "table" or _is_known(session, table.database, "index", node.name.text):
        return
    schema = session.databases[table.database].name
    yield from _create(CREATE_INDEX, node.name.text, table.name, schema)
    for part in node.columns:
        name = _written(part.expr)
        if name is not None and name.lower() in table.by_name:
            yield READ, table.name, table.columns[table.by_name[name.lower()]].name, schema
    yield REINDEX, node.name.text, None, schema


def _is_known(session: Session, number: int, kind: str, name: str) -> bool:
    catalog = session.databases.catalog(number)
    return (catalog.find_index(name) if kind == "index" else catalog.find_trigger(name)) is not None


def _create_trigger(session: Session, node: Any) -> Iterator[Question]:
    table = _find(session, node.table_schema if hasattr(node, "table_schema") else node.schema, node.table)
    if table is None:
        return
    schema = "temp" if node.temp or table.database == 1 else session.databases[table.database].name
    yield from _create(CREATE_TRIGGER, node.name.text, table.name, schema)


def _drop(session: Session, node: Any) -> Iterator[Question]:
    """DROP TABLE, VIEW, INDEX and TRIGGER."""
    kind = node.kind.lower()
    name = node.name.text
    if kind in ("table", "view"):
        table = _find(session, node.schema, node.name)
        if table is None or (table.kind == "view") != (kind == "view"):
            return
        schema = session.databases[table.database].name
        action = DROP_VIEW if kind == "view" else DROP_TABLE
        yield DELETE, _schema_table(schema), None, schema
        if table.kind == "virtual":
            yield DROP_VTABLE, table.name, table.module, schema
        else:
            yield DROP_TEMP[action] if schema == "temp" else action, table.name, None, schema
        yield DELETE, table.name, None, schema
        return
    found = _find_other(session, kind, node.schema, name)
    if found is None:
        return
    number, known, table_name = found
    schema = session.databases[number].name
    action = DROP_INDEX if kind == "index" else DROP_TRIGGER
    dropped: Question = (DROP_TEMP[action] if schema == "temp" else action, known, table_name, schema)
    row: Question = (DELETE, _schema_table(schema), None, schema)
    yield from (row, dropped) if kind == "index" else (dropped, row)


def _find_other(session: Session, kind: str, schema: ast.Name | None, name: str) -> tuple[int, str, str] | None:
    """(database, name, table name) of an index or trigger."""
    databases = session.databases
    numbers = [databases.number_of(schema.text)] if schema is not None else [1, 0, *range(2, len(databases))]
    for number in numbers:
        if number is None:
            continue
        catalog = databases.catalog(number)
        found: Any = catalog.find_index(name) if kind == "index" else catalog.find_trigger(name)
        if found is not None:
            table = found.table if kind == "index" else found.statement.table
            return number, found.name, table.name if kind == "index" else table.text
    return None


def _alter(session: Session, node: Any) -> Iterator[Question]:
    table = _find(session, node.schema, node.name)
    if table is not None:
        column = node.column.text if type(node).__name__ == "AlterDropColumn" else None
        # (of ALTER_TABLE the first argument is the database)
        yield ALTER_TABLE, session.databases[table.database].name, table.name, column  # type: ignore[misc]


def _reindex(session: Session, node: Any) -> Iterator[Question]:
    if node.name is None:
        tables = [table for number in range(len(session.databases)) for table in reversed(session.databases.catalog(number).tables())]
    else:
        table = _find(session, node.schema, node.name)
        tables = [table] if table is not None else []
        found = _find_other(session, "index", node.schema, node.name.text) if table is None else None
        if found is not None:
            yield REINDEX, found[1], None, session.databases[found[0]].name
    for table in tables:
        for index in table.indexes:
            yield REINDEX, index.name, None, session.databases[table.database].name


def _analyze(session: Session, node: Any) -> Iterator[Question]:
    databases = session.databases
    name = node.name.text if node.name is not None else None
    if name is None or (node.schema is None and databases.number_of(name) is not None):
        numbers = [databases.number_of(name)] if name is not None else [number for number in range(len(databases)) if number != 1]
        tables = [table for number in numbers if number is not None for table in databases.catalog(number).tables()]
    else:
        table = _find(session, node.schema, node.name)
        found = _find_other(session, "index", node.schema, name) if table is None else None
        if found is not None:
            table = databases.catalog(found[0]).find_table(found[2])
        tables = [table] if table is not None else []
    for table in tables:
        if table.kind == "table" and not table.name.lower().startswith("sqlite_"):
            yield ANALYZE, table.name, None, databases[table.database].name


def _pragma(session: Session, node: Any) -> Iterator[Question]:
    yield PRAGMA, node.name.text, node.value, _text(node.schema)


def _transaction(word: str) -> Any:
    def questions(session: Session, node: Any) -> Iterator[Question]:
        yield TRANSACTION, word, None, None

    return questions


def _rollback(session: Session, node: Any) -> Iterator[Question]:
    if node.savepoint is None:
        yield TRANSACTION, "ROLLBACK", None, None
    else:
        yield SAVEPOINT, "ROLLBACK", node.savepoint.text, None


def _savepoint(word: str) -> Any:
    def questions(session: Session, node: Any) -> Iterator[Question]:
        yield SAVEPOINT, word, node.name.text, None

    return questions


def _attach(session: Session, node: Any) -> Iterator[Question]:
    yield ATTACH, _written(node.file), None, None


def _detach(session: Session, node: Any) -> Iterator[Question]:
    yield DETACH, _written(node.schema), None, None


def _vacuum(session: Session, node: Any) -> Iterator[Question]:
    yield ATTACH, "" if node.into is None else _written(node.into), None, None


_QUESTIONS: dict[str, Any] = {
    "CreateTable": _create_table, "CreateView": _create_view, "CreateIndex": _create_index, "CreateTrigger": _create_trigger,
    "CreateVirtualTable": _create_virtual_table, "Drop": _drop, "AlterRenameTable": _alter, "AlterRenameColumn": _alter, "AlterAddColumn": _alter,
    "AlterDropColumn": _alter, "Reindex": _reindex, "Analyze": _analyze, "Pragma": _pragma, "Begin": _transaction("BEGIN"),
    "Commit": _transaction("COMMIT"), "Rollback": _rollback, "Savepoint": _savepoint("BEGIN"), "Release": _savepoint("RELEASE"),
    "Attach": _attach, "Detach": _detach, "Vacuum": _vacuum,
}
