"""``.import``: rows of a CSV or separated file into a table.

Fields are read as RFC 4180 has it in csv mode, and by plain separators in ascii mode.  A missing table is made from the first row, all
columns TEXT.  Everything runs in one transaction; a row that cannot be inserted is reported and skipped.
"""
from __future__ import annotations

import os

from sqlvec.cli.dot_commands import ArgumentError, integer
from sqlvec.cli.modes import tcl_text
from sqlvec.cli.output import decode
from sqlvec.errors import SqlError
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.cli.shell import Shell

_SPACES = " \t\n\r\f\x0b"


class _Reader:
    """Fields of a file, one at a time; ``terminator`` is what ended the last one (a separator, or '' at the end)."""

    def __init__(self, shell: Shell, text: str, name: str, column: str, row: str) -> None:
        self.shell = shell
        self.text = text
        self.name = name
        self.column = column
        self.row = row
        self.position = 0
        self.line = 1
        self.rows_read = 0
        self.terminator = row

    def ascii_field(self) -> str | None:
        """A field up to the next separator; None at the end."""
        if self.position >= len(self.text):
            self.terminator = ""
            return None
        start = self.position
        while self.position < len(self.text):
            char = self.text[self.position]
            if char == self.column or char == self.row:
                field = self.text[start : self.position]
                self.position += 1
                self.terminator = char
                if char == self.row:
                    self.line += 1
                return field
            self.position += 1
        self.terminator = ""
        return self.text[start:]

    def csv_field(self) -> str | None:
        """A field, quoted or plain; None at the end."""
        text = self.text
        if self.position >= len(text):
            self.terminator = ""
            return None
        if text[self.position] == '"':
            return self._quoted()
        start = self.position
        while self.position < len(text):
            char = text[self.position]
            if char == self.column or char == self.row:
                break
            self.position += 1
        field = text[start : self.position]
        if self.position >= len(text):
            self.terminator = ""
        else:
            self.terminator = text[self.position]
            self.position += 1
            if self.terminator == self.row:
                self.line += 1
                if self.row == "\n" and field.endswith("\r"):
                    field = field[:-1]
        return field

    def _quoted(self) -> str:
        text = self.text
        start_line = self.line
        self.position += 1
        pieces: list[str] = []
        while True:
            end = text.find('"', self.position)
            if end < 0:
                self.shell.complain(f"{self.name}:{start_line}: unterminated \"-quoted field\n")
                pieces.append(text[self.position :])
                self.line += pieces[-1].count("\n")
                self.position = len(text)
                self.terminator = ""
                return "".join(pieces)
            piece = text[self.position : end]
            self.line += piece.count("\n")
            pieces.append(piece)
            self.position = end + 1
            following = text[self.position : self.position + 1]
            if following == '"':
                pieces.append('"')
                self.position += 1
                continue
            if not following:
                self.terminator = ""
                return "".join(pieces)
            if following == self.column or following == self.row:
                self.position += 1
                self.terminator = following
                self.line += following == self.row
                return "".join(pieces)
            if following == "\r" and text[self.position + 1 : self.position + 2] == self.row:
                self.position += 2
                self.terminator = self.row
                self.line += 1
                return "".join(pieces)
            self.shell.complain(f'{self.name}:{self.line}: unescaped " character\n')
            pieces.append('"')


class _Options:
    def __init__(self) -> None:
        self.file = self.table = self.schema = ""
        self.skip = 0
        self.verbose = 0
        self.column = self.row = ""
        self.use_output_mode = True
        self.ascii = False


def _parse_options(shell: Shell, words: list[str]) -> _Options | None:
    options = _Options()
    position = 1
    while position < len(words):
        word = words[position]
        position += 1
        name = word[1:] if word.startswith("--") else word
        if not word.startswith("-"):
            if not options.file:
                options.file = word
            elif not options.table:
                options.table = word
            else:
                shell.out.write(f'ERROR: extra argument: "{word}".  Usage:\n')
                resolve("sqlvec.cli.help:print_topic")(shell, "import")
                return None
        elif name == "-v":
            options.verbose += 1
        elif name == "-schema" and position < len(words):
            options.schema = words[position]
            position += 1
        elif name == "-skip" and position < len(words):
            options.skip = integer(words[position])
            position += 1
        elif name == "-ascii":
            options.column, options.row, options.ascii, options.use_output_mode = "\x1f", "\x1e", True, False
        elif name == "-csv":
            options.column, options.row, options.use_output_mode = ",", "\n", False
        else:
            shell.out.write(f'ERROR: unknown option: "{name}".  Usage:\n')
            resolve("sqlvec.cli.help:print_topic")(shell, "import")
            return None
    if not options.table:
        shell.out.write(f"ERROR: missing {'TABLE' if options.file else 'FILE'} argument. Usage:\n")
        resolve("sqlvec.cli.help:print_topic")(shell, "import")
        return None
    return options


def _separators(shell: Shell, options: _Options) -> None:
    """Separators of the output mode, unless ``--csv`` or ``--ascii`` were given."""
    column, row = shell.column_separator, shell.row_separator
    if not column:
        raise ArgumentError("Error: non-null column separator required for import")
    if len(column) > 1:
        raise ArgumentError("Error: multi-character column separators not allowed for import")
    if not row:
        raise ArgumentError("Error: non-null row separator required for import")
    if row == "\r\n" and shell.mode == "csv":
        row = "\n"
    if len(row) > 1:
        raise ArgumentError("Error: multi-character row separators not allowed for import")
    options.column, options.row = column, row
    options.ascii = shell.mode == "ascii"


def _read_input(name: str) -> tuple[bytes, str]:
    if name.startswith("|"):
        done = resolve("subprocess:run")(name[1:], shell=True, stdout=resolve("subprocess:PIPE"), check=False)
        return done.stdout, "<pipe>"
    try:
        descriptor = os.open(name, os.O_RDONLY)
    except OSError:
        raise ArgumentError(f'Error: cannot open "{name}"') from None
    blocks = []
    try:
        while block := os.read(descriptor, 1 << 20):
            blocks.append(block)
    finally:
        os.close(descriptor)
    return b"".join(blocks), name


def import_file(shell: Shell, words: list[str]) -> int:
    """``.import [--csv | --ascii] [--skip N] [--schema S] [-v] FILE TABLE``"""
    options = _parse_options(shell, words)
    if options is None:
        return 1
    session = shell.database()
    if options.use_output_mode:
        _separators(shell, options)
    data, name = _read_input(options.file)
    if options.verbose:
        shell.out.write(f"Column separator {tcl_text(options.column)}, row separator {tcl_text(options.row)}\n")
    if data.startswith(b"\xef\xbb\xbf") and not options.ascii:
        data = data[3:]
    reader = _Reader(shell, decode(data), name, options.column, options.row)
    read_field = reader.ascii_field if options.ascii else reader.csv_field
    for _ in range(options.skip):
        while True:
            field = read_field()
            if field is None or reader.terminator != reader.column:
                break
    schema = options.schema or None
    target = (_quoted(options.schema) + "." if schema else "") + _quoted(options.table)
    columns = _columns(session, options.schema, options.table)
    if columns is None:
        columns = _create_table(shell, session, reader, read_field, target, name)
        if columns is None:
            return 1
    if not columns:
        return 0
    return _insert_rows(shell, session, reader, read_field, target, columns, options)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _columns(session: Any, schema: str, table: str) -> int | None:
    """The number of columns that take values; None if there is no such table."""
    prefix = _quoted(schema) + "." if schema else ""
    try:
        rows = session.run(f"PRAGMA {prefix}table_info({_quoted(table)})")
    except SqlError:
        return None
    return len(rows) or None


def _create_table(shell: Shell, session: Any, reader: _Reader, read_field: Any, target: str, name: str) -> int | None:
    """Make the table from the first row of the file."""
    names: list[str] = []
    while True:
        field = read_field()
        if field is None:
            break
        names.append(field)
        if reader.terminator != reader.column:
            break
    if not names:
        raise ArgumentError(f"{name}: empty file")
    renamed, notes = _distinct(names)
    if notes:
        shell.complain(f"Columns renamed during .import {name} due to duplicates:\n{notes}\n")
    columns = ", ".join(f"{_quoted(column)} TEXT" for column in renamed)
    sql = f"CREATE TABLE {target}(\n{columns})"
    try:
        session.run(sql)
    except SqlError as error:
        raise ArgumentError(f"{sql} failed:\n{error.message}") from None
    return len(names)


def _distinct(names: list[str]) -> tuple[list[str], str]:
    """Column names without duplicates, and what was renamed."""
    names = [name or "?" for name in names]
    lowered = [name.lower() for name in names]
    if len(set(lowered)) == len(lowered):
        return names, ""
    digits = len(str(len(names)))
    result: list[str] = []
    notes: list[str] = []
    for position, name in enumerate(names):
        if lowered.count(lowered[position]) > 1:
            new = f"{name}_{position + 1:0{digits}d}" if digits > 1 else f"{name}_{position + 1}"
            notes.append(f'"{name}" to "{new}"')
            result.append(new)
        else:
            result.append(name)
    return result, ",\n".join(notes)


def _insert_rows(shell: Shell, session: Any, reader: _Reader, read_field: Any, target: str, columns: int, options: _Options) -> int:
    try:
        insert, _ = session.prepare(f"INSERT INTO {target} VALUES({','.join('?' * columns)})")
    except SqlError as error:
        raise ArgumentError(f"Error: {error.message}") from None
    own_transaction = session.transaction.autocommit
    if own_transaction:
        session.run("BEGIN")
    added = failed = 0
    status = 0
    while True:
        first_line = reader.line
        values: list[str | None] = []
        field: str | None = None
        for index in range(columns):
            field = read_field()
            if field is None and index == 0:
                break
            # the last line of an ascii file may end without a row separator
            if options.ascii and (field is None or field == "") and index == 0:
                break
            values.append(field if field is not None else None)
            if index < columns - 1 and reader.terminator != reader.column:
                shell.complain(
                    f"{reader.name}:{first_line}: expected {columns} columns but found {index + 1} - filling the rest with NULL\n"
                )
                values.extend([None] * (columns - index - 1))
                break
        if not values:
            break
        if reader.terminator == reader.column and len(values) == columns:
            found = columns
            while reader.terminator == reader.column:
                read_field()
                found += 1
            shell.complain(f"{reader.name}:{first_line}: expected {columns} columns but found {found} - extras ignored\n")
        insert.bind(tuple(values))
        try:
            insert.step()
            added += 1
        except SqlError as error:
            shell.complain(f"{reader.name}:{first_line}: INSERT failed: {error.message}\n")
            failed += 1
            status = error.code
        insert.reset()
        if reader.terminator == "":
            break
    if own_transaction and not session.transaction.autocommit:
        session.run("COMMIT")
    if options.verbose:
        shell.out.write(f"Added {added} rows with {failed} errors using {reader.line - 1} lines of input\n")
    return status
