"""``.parameter``, and the binding of parameters in statements.

Values live in the table ``temp.sqlite_parameters(key, value)``; a parameter without a row there is NULL.
"""
from __future__ import annotations

from sqlvec.cli.dot_commands import ArgumentError
from sqlvec.cli.modes import quote_text, sql_literal
from sqlvec.errors import SqlError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.cli.shell import Shell
    from sqlvec.session.session import Session
    from sqlvec.session.statement import Statement

_CREATE = "CREATE TABLE IF NOT EXISTS temp.sqlite_parameters(key TEXT PRIMARY KEY,value) WITHOUT ROWID"
_USAGE = (
    ".parameter CMD ...       Manage SQL parameter bindings\n"
    "   clear                   Erase all bindings\n"
    "   init                    Initialize the TEMP table that holds bindings\n"
    "   list                    List the current parameter bindings\n"
    "   set PARAMETER VALUE     Given SQL parameter PARAMETER a value of VALUE\n"
    "                           PARAMETER should start with one of: $ : @ ?\n"
    "   unset PARAMETER         Remove PARAMETER from the binding table"
)


def bind(shell: Shell, session: Session, statement: Statement) -> None:
    """Give each parameter its value from the table."""
    if not shell.parameters_known:
        statement.bind((None,) * len(statement.parameters))
        return
    values: list[Any] = []
    for number, name in enumerate(statement.parameters, 1):
        rows: list[Any] = []
        try:
            rows = session.run("SELECT value FROM temp.sqlite_parameters WHERE key=?1", name or f"?{number}")
        except SqlError:
            pass
        values.append(rows[0][0] if rows else None)
    statement.bind(tuple(values))


def _init(shell: Shell) -> None:
    """Make the table; it is there for whoever knows the shell's secret (writable_schema), under a reserved name."""
    session = shell.database()
    shell.parameters_known = True
    settings = session.settings
    before = settings.writable_schema
    settings.writable_schema = True
    try:
        session.run(_CREATE)
    finally:
        settings.writable_schema = before


def parameter(shell: Shell, words: list[str]) -> int:
    """``.parameter init | list | set NAME VALUE | unset NAME | clear``"""
    session = shell.database()
    command = words[1] if len(words) > 1 else ""
    count = len(words)
    if command == "clear" and count == 2:
        _quietly(session, "DROP TABLE IF EXISTS temp.sqlite_parameters")
        return 0
    if command == "init" and count == 2:
        _init(shell)
        return 0
    if command == "list" and count == 2:
        try:
            rows = session.run("SELECT key, value FROM temp.sqlite_parameters")
        except SqlError:
            return 0
        widest = max((len(row[0]) for row in rows), default=0)
        for key, value in rows:
            shell.out.write(f"{key:<{widest}} {sql_literal(value)}\n")
        return 0
    if command == "set" and count == 4:
        _init(shell)
        key, value = words[2], words[3]
        try:
            session.run(f"REPLACE INTO temp.sqlite_parameters(key,value)VALUES({quote_text(key)},{value})")
        except SqlError:
            try:
                session.run(f"REPLACE INTO temp.sqlite_parameters(key,value)VALUES({quote_text(key)},{quote_text(value)})")
            except SqlError as error:
                raise ArgumentError(f"Error: {error.message}") from None
        return 0
    if command == "unset" and count == 3:
        _quietly(session, f"DELETE FROM temp.sqlite_parameters WHERE key={quote_text(words[2])}")
        return 0
    shell.out.write(_USAGE + "\n")
    return 0


def _quietly(session: Session, sql: str) -> None:
    try:
        session.run(sql)
    except SqlError:
        pass
