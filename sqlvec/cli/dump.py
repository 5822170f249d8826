"""``.dump``: a database as SQL text.

Tables come in the order of sqlite_schema with their rows, sqlite_sequence last; then indexes, triggers and views.  Virtual tables are
entered into sqlite_schema directly, as their shadow tables are dumped like others.
"""
from __future__ import annotations

from sqlvec.cli.dot_commands import ArgumentError
from sqlvec.cli.dot_schema import schema_line
from sqlvec.cli.modes import insert_literal, quote_name, quote_text
from sqlvec.errors import SqlError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.cli.shell import Shell

_ROWID_NAMES = ("rowid", "_rowid_", "oid")


class _Dump:
    """The options of one dump and what it has met so far."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.data_only = self.no_system = self.newlines = self.preserve_rowids = False
        self.writable_schema = False
        self.errors = 0


def dump(shell: Shell, words: list[str]) -> int:
    """``.dump [--data-only] [--newlines] [--nosys] [--preserve-rowids] [PATTERN]...``"""
    options = _Dump(shell)
    patterns: list[str] = []
    for word in words[1:]:
        option = word.lstrip("-") if word.startswith("-") else ""
        if option == "preserve-rowids":
            options.preserve_rowids = True
        elif option == "newlines":
            options.newlines = True
        elif option == "data-only":
            options.data_only = True
        elif option == "nosys":
            options.no_system = True
        elif word.startswith("-"):
            raise ArgumentError(f'Unknown option "{word}" on ".dump"')
        else:
            patterns.append(word)
    condition = " OR ".join(f"name LIKE {quote_text(pattern)} ESCAPE '\\'" for pattern in patterns) or "1"
    write = shell.out.write
    session = shell.database()
    if not options.data_only:
        write("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n")
    in_transaction = session.transaction.autocommit
    if in_transaction:
        session.run("BEGIN")
    try:
        try:
            for name, kind, sql in session.run(
                f"SELECT name, type, sql FROM sqlite_schema AS o WHERE ({condition}) AND type=='table' AND sql NOT NULL"
                " ORDER BY tbl_name='sqlite_sequence', rowid"
            ):
                _dump_table(options, name, kind, sql)
            if not options.data_only:
                for (sql,) in session.run(
                    f"SELECT sql FROM sqlite_schema AS o WHERE ({condition}) AND sql NOT NULL AND type IN ('index','trigger','view')"
                ):
                    write(schema_line(sql, ";\n"))
        except SqlError as error:
            write(f"/****** ERROR: {error.message} ******/\n")
            options.errors += 1
    finally:
        if in_transaction and not session.transaction.autocommit:
            session.run("COMMIT")
    if options.writable_schema:
        write("PRAGMA writable_schema=OFF;\n")
    if not options.data_only:
        write("ROLLBACK; -- due to errors\n" if options.errors else "COMMIT;\n")
    return 0


def _dump_table(options: _Dump, name: str, kind: str, sql: str) -> None:
    write = options.shell.out.write
    lowered = name.lower()
    if lowered == "sqlite_sequence":
        if options.no_system:
            return
        if not options.data_only:
            write("DELETE FROM sqlite_sequence;\n")
    elif lowered.startswith("sqlite_stat") and len(lowered) == 12:
        if options.no_system:
            return
        if not options.data_only:
            write("ANALYZE sqlite_schema;\n")
    elif lowered.startswith("sqlite_"):
        return
    elif not options.data_only:
        if sql[:20].upper() == "CREATE VIRTUAL TABLE":
            if not options.writable_schema:
                write("PRAGMA writable_schema=ON;\n")
                options.writable_schema = True
            write(
                "INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table',"
                f"{quote_text(name)},{quote_text(name)},0,{quote_text(sql)});\n"
            )
            return
        write(schema_line(sql, ";\n"))
    elif sql[:20].upper() == "CREATE VIRTUAL TABLE":
        return
    _dump_rows(options, name)


def _dump_rows(options: _Dump, name: str) -> None:
    shell = options.shell
    session = shell.database()
    info = session.run(f"PRAGMA table_info={quote_text(name)}")
    columns = [row[1] for row in info]
    if not columns:
        return
    rowid = _rowid_name(shell, name, info) if options.preserve_rowids else ""
    selected = ([rowid] if rowid else []) + ['"' + column.replace('"', '""') + '"' for column in columns]
    target = quote_name(name)
    if rowid:
        target += "(" + ",".join([rowid, *map(quote_name, columns)]) + ")"
    literal = _raw_literal if options.newlines else insert_literal
    quoted = '"' + name.replace('"', '""') + '"'
    statement, _ = session.prepare(f"SELECT {','.join(selected)} FROM {quoted}")
    if statement is None:
        return
    write = shell.out.write
    try:
        for row in statement:
            write(f"INSERT INTO {target} VALUES({','.join(map(literal, row))});\n")
    except SqlError as error:
        write(f"/****** CORRUPTION ERROR *******/\n/****** {error.message} ******/\n")
        options.errors += 1
    finally:
        statement.close()


def _raw_literal(value: Any) -> str:
    """With ``--newlines`` line ends stay as they are."""
    return quote_text(value) if isinstance(value, str) else insert_literal(value)


def _rowid_name(shell: Shell, table: str, info: list[tuple[Any, ...]]) -> str:
    """A name for the rowid that no column takes; '' where the table has none or a column holds it anyway."""
    session = shell.database()
    key = [row for row in info if row[5]]
    indexes = session.run(f"PRAGMA index_list({quote_text(table)})")
    has_key_index = any(row[3] == "pk" for row in indexes)
    if len(key) == 1 and key[0][2].upper() == "INTEGER" and not has_key_index:
        return ""
    taken = {row[1].lower() for row in info}
    for name in _ROWID_NAMES:
        if name not in taken:
            try:
                session.prepare(f"SELECT {name} FROM \"{table.replace(chr(34), chr(34) * 2)}\"")
            except SqlError:
                return ""
            return name
    return ""
