"""Output modes that print row by row: csv, tabs, ascii, tcl, quote, insert, json, line, html, count, off.

``PRINTERS`` names the printer of every mode; a printer takes the shell and a statement and steps it.  Nothing is printed for a result
without rows.  The modes that need all rows before the first line (column, table, box, markdown) are in cli/columnar.py.

Follows section "Changing Output Formats" of the manual's page on the shell.
"""
from __future__ import annotations

from sqlvec.cli.output import decode, encode
from sqlvec.cli.shell import print_list, text_of
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlvec.cli.shell import Shell
    from sqlvec.session.statement import Statement

_CSV_QUOTED = frozenset([chr(code) for code in range(33)] + ['"', "'", "\x7f"])
_MOST_LITERALS = 10_000
_real_literals: dict[float, str] = {}
_PLAIN_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def _rows(statement: Statement) -> Any:
    """All rows, after which ``statement.names`` is known."""
    row = statement.step()
    while row is not None:
        yield row
        row = statement.step()


def _print_cells(shell: Shell, statement: Statement, cell: Callable[[Any], str], header: Callable[[str], str]) -> None:
    """Rows of cells with the current separators."""
    write = shell.out.write
    separator, end = shell.column_separator, shell.row_separator
    is_first = True
    for row in _rows(statement):
        if is_first:
            is_first = False
            if shell.headers:
                write(separator.join(map(header, statement.names)) + end)
        write(separator.join(map(cell, row)) + end)


# --- csv, ascii, tcl -------------------------------------------------------------------------------------------------------------------


def print_csv(shell: Shell, statement: Statement) -> None:
    def quoted(text: str) -> str:
        return csv_text(text, shell.column_separator)

    def cell(value: Any) -> str:
        return shell.null_value if value is None else quoted(text_of(value))

    _print_cells(shell, statement, cell, quoted)


def csv_text(text: str, separator: str) -> str:
    """A field, in quotes if it is empty or holds a blank, a quote, a non-ASCII byte, or the separator."""
    if text and separator not in text and text.isascii() and _CSV_QUOTED.isdisjoint(text):
        return text
    return '"' + text.replace('"', '""') + '"'


def print_ascii(shell: Shell, statement: Statement) -> None:
    _print_cells(shell, statement, lambda value: shell.null_value if value is None else text_of(value), str)


def print_tcl(shell: Shell, statement: Statement) -> None:
    _print_cells(shell, statement, lambda value: tcl_text(shell.null_value if value is None else text_of(value)), tcl_text)


def tcl_text(text: str) -> str:
    """A C string literal: what is not printable ASCII in octal."""
    escapes = {34: '\\"', 92: "\\\\", 9: "\\t", 10: "\\n", 13: "\\r"}
    pieces = [escapes.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in encode(text)]
    return '"' + "".join(pieces) + '"'


# --- quote and insert ----------------------------------------------------------------------------------------------------------------


def print_quote(shell: Shell, statement: Statement) -> None:
    _print_cells(shell, statement, sql_literal, lambda name: quote_text(name))


def sql_literal(value: Any) -> str:
    """A value as an SQL literal, as ``.mode quote`` prints it."""
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return real_literal(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, bytes):
        return "X'" + value.hex() + "'"
    return quote_text(value)


def quote_text(text: str) -> str:
    return "'" + text.partition("\0")[0].replace("'", "''") + "'"


def real_literal(value: float) -> str:
    """Twenty digits; the conversion is slow, so the texts met are kept (not those of zeros, which are equal but differ)."""
    found = _real_literals.get(value)
    if found is None:
        found = str(resolve("sqlvec.values.numeric_text:format_real_20")(value))
        if value:
            if len(_real_literals) >= _MOST_LITERALS:
                _real_literals.clear()
            _real_literals[value] = found
    return found


def print_insert(shell: Shell, statement: Statement) -> None:
    write = shell.out.write
    for row in _rows(statement):
        names = "(" + ",".join(map(quote_name, statement.names)) + ")" if shell.headers else ""
        write(f"INSERT INTO {quote_name(shell.insert_table)}{names} VALUES({','.join(map(insert_literal, row))});\n")


def quote_name(name: str) -> str:
    """A name in double quotes if it needs them: not a plain identifier, or a keyword."""
    if name and ((name[0].isalpha() and name[0].isascii()) or name[0] == "_") and all(char in _PLAIN_NAME for char in name):
        if name.upper() not in keywords():
            return name
    return '"' + name.replace('"', '""') + '"'


def keywords() -> Any:
    return resolve("sqlvec.parse.lexer:KEYWORDS")


def insert_literal(value: Any) -> str:
    """A literal that keeps its type when it is read back; line ends are spelled with ``char()``."""
    if value is None or isinstance(value, bytes):
        return sql_literal(value)
    if isinstance(value, float):
        if value in (float("inf"), float("-inf")):
            return "1e999" if value > 0 else "-1e999"
        if value == int(value) and -(2**63) <= value < 2**63:
            return f"{int(value)}.0"
        return real_literal(value)
    if isinstance(value, int):
        return str(value)
    text = value.partition("\0")[0]
    if "\n" not in text and "\r" not in text:
        return quote_text(text)
    literal = quote_text(text)
    newline = carriage = ""
    if "\n" in text:
        newline = unused_marker(text, "\\n", "\\012")
        literal = literal.replace("\n", newline)
    if "\r" in text:
        carriage = unused_marker(text, "\\r", "\\015")
        literal = literal.replace("\r", carriage)
    if carriage:
        literal = f"replace({literal},'{carriage}',char(13))"
    if newline:
        literal = f"replace({literal},'{newline}',char(10))"
    return literal


def unused_marker(text: str, first: str, second: str) -> str:
    """A marker that doesn't occur in ``text``."""
    for marker in (first, second):
        if marker not in text:
            return marker
    number = 0
    while f"({first}{number})" in text:
        number += 1
    return f"({first}{number})"


# --- json, line, html, count, off ------------------------------------------------------------------------------------------------------


def print_json(shell: Shell, statement: Statement) -> None:
    write = shell.out.write
    names: list[str] = []
    try:
        for row in _rows(statement):
            if names:
                write(",\n{")
            else:
                write("[{")
                names = [json_text(name) for name in statement.names]
            write(",".join([f"{name}:{json_value(value)}" for name, value in zip(names, row, strict=True)]) + "}")
    finally:
        if names:
            write("]\n")


def json_value(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, float):
        if value in (float("inf"), float("-inf")):
            return "1e999" if value > 0 else "-1e999"
        return real_literal(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, bytes):
        return json_text(value.decode("latin-1"), is_bytes=True)
    return json_text(value)


def json_text(text: str, is_bytes: bool = False) -> str:
    """A JSON string; of a blob each byte is a character of its own, and what isn't printable is escaped."""
    if not is_bytes and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    escapes = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    pieces = []
    for char in text:
        if char in escapes:
            pieces.append(escapes[char])
        elif char < " ":
            pieces.append(f"\\u{ord(char):04x}")
        else:
            pieces.append(char)
    joined = "".join(pieces)
    return '"' + (decode(joined.encode("latin-1")) if is_bytes else joined) + '"'


def print_line(shell: Shell, statement: Statement) -> None:
    write = shell.out.write
    width = 5
    for number, row in enumerate(_rows(statement)):
        if number:
            write(shell.row_separator)
        else:
            width = max(width, *map(len, statement.names))
        for name, value in zip(statement.names, row, strict=True):
            write(f"{name:>{width}} = {shell.null_value if value is None else text_of(value)}{shell.row_separator}")


def print_html(shell: Shell, statement: Statement) -> None:
    write = shell.out.write
    is_first = True
    for row in _rows(statement):
        if is_first and shell.headers:
            write("<TR>" + "".join(f"<TH>{html_text(name)}</TH>\n" for name in statement.names) + "</TR>\n")
        is_first = False
        cells = (shell.null_value if value is None else text_of(value) for value in row)
        write("<TR>" + "".join(f"<TD>{html_text(cell)}</TD>\n" for cell in cells) + "</TR>\n")


def html_text(text: str) -> str:
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        text = text.replace(char, entity)
    return text


def print_count(shell: Shell, statement: Statement) -> None:
    count = sum(1 for _ in _rows(statement))
    if count:
        shell.out.write(f"{count} row{'' if count == 1 else 's'}\n")


def print_nothing(shell: Shell, statement: Statement) -> None:
    for _ in _rows(statement):
        pass


def _late(name: str) -> Callable[[Shell, Statement], None]:
    """A printer of another module."""

    def printer(shell: Shell, statement: Statement) -> None:
        resolve(name)(shell, statement)

    return printer


PRINTERS: dict[str, Callable[[Shell, Statement], None]] = {
    "list": print_list,
    "tabs": print_list,
    "csv": print_csv,
    "ascii": print_ascii,
    "tcl": print_tcl,
    "quote": print_quote,
    "insert": print_insert,
    "json": print_json,
    "line": print_line,
    "html": print_html,
    "count": print_count,
    "off": print_nothing,
    "column": _late("sqlvec.cli.columnar:print_column"),
    "table": _late("sqlvec.cli.columnar:print_table"),
    "box": _late("sqlvec.cli.columnar:print_box"),
    "markdown": _late("sqlvec.cli.columnar:print_markdown"),
    "explain": _late("sqlvec.cli.explain:print_explain"),
    "explain query plan": _late("sqlvec.cli.explain:print_query_plan"),
}
