"""How errors look: the line, the result code, and the block that points at the offending token.

The block is computed in bytes, as SQLite does: the text of the failing statement to the end of its chunk, cut on the left so that the
token is at byte 50 at most, and to 78 bytes in all; blanks of any kind are shown as spaces.
"""
from __future__ import annotations

from sqlvec.cli.output import decode, encode
from sqlvec.errors import SqlError

MOST_BYTES = 78
MOST_OFFSET = 50
SHORT_OFFSET = 25
_BLANKS = bytes.maketrans(b"\t\n\v\f\r", b"     ")


def with_code(error: SqlError) -> str:
    """The message, with the primary result code unless that is plain SQLITE_ERROR."""
    return error.message if error.code == 1 else f"{error.message} ({error.code})"


def near_line(error: SqlError, sql: str, line: int | None) -> str:
    """The report on an error in a chunk of input that started at ``line`` (None at the prompt)."""
    phase = getattr(error, "phase", "")
    kind = {"prepare": "Parse error", "step": "Runtime error"}.get(phase, "Error")
    where = "" if line is None else f" near line {line}"
    return f"{kind}{where}: {with_code(error)}{context(error, sql)}\n"


def in_phase(error: SqlError, sql: str) -> str:
    """The report on an error in a command-line argument."""
    phase = {"prepare": "in prepare, ", "step": "stepping, "}.get(getattr(error, "phase", ""), "")
    return phase + with_code(error) + context(error, sql)


def context(error: SqlError, sql: str) -> str:
    """The two lines below a message, each with a newline before it; '' where the place is not known."""
    if error.offset is None or getattr(error, "phase", "") != "prepare":
        return ""
    start = getattr(error, "sql_start", 0)
    data = encode(sql[start:])
    offset = len(encode(sql[start : max(error.offset, start)])) + max(0, error.offset - len(sql))       # it may be a place in a stored declaration
    if offset > MOST_OFFSET:
        cut = offset - MOST_OFFSET
        while cut < len(data) and data[cut] & 0xC0 == 0x80:
            cut += 1
        data = data[cut:]
        offset -= cut
    size = min(len(data), MOST_BYTES)
    if len(data) > MOST_BYTES:
        while size > 0 and data[size] & 0xC0 == 0x80:
            size -= 1
    text = decode(data[:size].translate(_BLANKS))
    if offset < SHORT_OFFSET:
        pointer = " " * offset + "^--- error here"
    else:
        pointer = " " * (offset - 14) + "error here ---^"
    return f"\n  {text}\n  {pointer}"
