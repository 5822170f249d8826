"""Small functions that the shell defines for its own queries: edit, usleep, shell_putsnl, shell_idquote and others."""
from __future__ import annotations

import os
import time

from sqlvec import errors
from sqlvec.cli.modes import quote_name
from sqlvec.cli.output import encode, write_all
from sqlvec.cli.shell import text_of
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def edit(value: Any, editor: Any = None) -> Any:
    """The value as an editor leaves it."""
    program = editor if isinstance(editor, str) else os.environ.get("VISUAL")
    if not program:
        raise errors.plain("no editor for edit()")
    is_blob = isinstance(value, bytes)
    descriptor, path = resolve("tempfile:mkstemp")()
    try:
        content = value if isinstance(value, bytes) else b"" if value is None else encode(value if isinstance(value, str) else text_of(value))
        write_all(descriptor, content)
        os.close(descriptor)
        if os.system(f'{program} "{path}"'):
            raise errors.plain("EDITOR returned non-zero")
        with open(path, "rb") as file:
            data = file.read()
    finally:
        os.unlink(path)
    return data if is_blob else resolve("sqlvec.cli.output:decode")(data)


def load_extension(name: Any, entry_point: Any = None) -> None:
    """There is no machine code to load: the error of a file that is not there."""
    raise errors.plain(f"{name}.so: cannot open shared object file: No such file or directory")


def usleep(microseconds: Any) -> int:
    count: int = resolve("sqlvec.values.arithmetic:cast_to_integer_operand")(microseconds)
    time.sleep(max(count, 0) / 1_000_000)
    return count


def put_line(value: Any) -> Any:
    write_all(1, encode(("" if value is None else value if isinstance(value, str) else text_of(value)) + "\n"))
    return value


def quote_identifier(value: Any) -> str | None:
    """Always in double quotes."""
    if value is None:
        return None
    text = value if isinstance(value, str) else text_of(value)
    return '"' + text.replace('"', '""') + '"'


def escape_line_ends(value: Any) -> Any:
    """A quoted string with line ends replaced by ``char()`` calls."""
    if not isinstance(value, str) or not value.startswith("'") or ("\n" not in value and "\r" not in value):
        return value
    unused = resolve("sqlvec.cli.modes:unused_marker")
    text = value
    newline = carriage = ""
    if "\n" in value:
        newline = unused(value, "\\n", "\\012")
        text = text.replace("\n", newline)
    if "\r" in value:
        carriage = unused(value, "\\r", "\\015")
        text = text.replace("\r", carriage)
    if newline:
        text = f"replace({text},'{newline}', char(10))"
    if carriage:
        text = f"replace({text},'{carriage}', char(13))"
    return text


def big_endian_int(data: Any, index: Any) -> int | None:
    """The index-th 32-bit integer of a blob."""
    if not isinstance(data, bytes) or not isinstance(index, int) or index < 0 or len(data) < 4 * index + 4:
        return None
    return int.from_bytes(data[4 * index : 4 * index + 4], "big")


def add_schema(sql: Any, schema: Any, name: Any) -> Any:
    """A stored text with a schema name put in."""
    if not isinstance(sql, str) or not sql.startswith("CREATE "):
        return sql
    for prefix in ("TABLE", "INDEX", "UNIQUE INDEX", "VIEW", "TRIGGER", "VIRTUAL TABLE"):
        at = 8 + len(prefix)
        if isinstance(schema, str) and sql[7:at] == prefix + " ":
            return f"{sql[:at]}{quote_name(schema)}.{sql[at:]}"
    return sql


def module_schema(name: Any) -> None:
    """The columns of an eponymous table as a comment; none are known here."""
    return


__all__ = [
    "add_schema", "big_endian_int", "edit", "escape_line_ends", "module_schema", "put_line", "quote_identifier", "usleep",
]  # fmt: skip
