"""Golden scripts: SQL with the answers of SQLite 3.40.1 beside it.

A script (``tests/golden/<topic>/<name>.slt``) is a list of records separated by blank lines::

    # comment lines may stand anywhere outside a record
    SELECT a, b FROM t ORDER BY a;
    ----
    1|'x'
    NULL|2.5

One connection to an empty memory database serves a whole script.  The lines after ``----`` are the rows of the record's last statement as typed literals, or
one line ``error: TEXT``;
the nodes of EXPLAIN QUERY PLAN are renumbered.  ``python -m tests.golden_runner --record FILE...`` fills in the answers of Python's sqlite3 module (3.40.1)
and refuses any other.
"""
from __future__ import annotations

import importlib
import sys
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


class Record:
    """One record: its ``line`` in the file, ``sql``, ``expected`` lines (None when not recorded)."""

    def __init__(self, line: int, sql: str, expected: list[str] | None) -> None:
        self.line = line
        self.sql = sql
        self.expected = expected


def literal(value: object) -> str:
    """A value as one-line SQL-like literal that shows its storage class."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        text = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\0", "\\0").replace("'", "''")
        return f"'{text}'"
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    return repr(value)


def read(path: Path) -> list[Record]:
    """The records of a script."""
    records: list[Record] = []
    sql: list[str] = []
    expected: list[str] | None = None
    start = 0
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate([*lines, ""], 1):
        if not line:
            if sql:
                records.append(Record(start, "\n".join(sql), expected))
            sql, expected = [], None
        elif line == "----" and expected is None:
            expected = []
        elif expected is not None:
            expected.append(line)
        elif line.startswith("#") and not sql:
            continue
        else:
            if not sql:
                start = number
            sql.append(line)
    return records


def split(module: object, sql: str) -> list[str]:
    """The statements of a record, cut where the module says that one is complete."""
    parts: list[str] = []
    pending = ""
    for piece in sql.split(";"):
        pending += piece + ";"
        if module.complete_statement(pending):  # type: ignore[attr-defined]
            parts.append(pending)
            pending = ""
    tail = pending.rstrip(";").strip()
    if tail:
        parts.append(pending[:-1])
    return [part for part in parts if part.strip(" \n;")]


def answer(module: object, connection: object, sql: str) -> list[str]:
    """Run one record and print its outcome as the script's lines."""
    rows: list[tuple[object, ...]] = []
    try:
        for part in split(module, sql):
            rows = connection.execute(part).fetchall()  # type: ignore[attr-defined]
            if part.lstrip().upper().startswith("EXPLAIN QUERY PLAN"):
                rows = renumbered(rows)
    except module.Error as error:  # type: ignore[attr-defined]
        return [f"error: {error}".replace("\n", "\\n")]
    return ["|".join(literal(value) for value in row) for row in rows]


def renumbered(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """The rows of EXPLAIN QUERY PLAN with nodes numbered in order: the real one's numbers are places in its byte code."""
    numbers: dict[object, int] = {0: 0}
    for row in rows:
        numbers[row[0]] = len(numbers)
    return [(numbers[row[0]], numbers[row[1]], *row[2:]) for row in rows]


def scripts() -> list[Path]:
    return sorted(GOLDEN.glob("*/*.slt"))


def record(path: Path) -> None:
    """Write the real one's answers into a script."""
    module = importlib.import_module("sqlite3")
    if module.sqlite_version != "3.40.1":
        raise SystemExit("recording needs SQLite 3.40.1")
    connection = module.connect(":memory:", isolation_level=None)
    text = path.read_text(encoding="utf-8").split("\n")
    out: list[str] = []
    position = 0
    for entry in read(path):
        out.extend(text[position:entry.line - 1])
        length = len(entry.sql.split("\n"))
        out.extend([entry.sql, "----", *answer(module, connection, entry.sql)])
        position = entry.line - 1 + length + (0 if entry.expected is None else 1 + len(entry.expected))
    out.extend(text[position:])
    path.write_text("\n".join(out), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "--record":
        raise SystemExit("usage: python -m tests.golden_runner --record FILE...")
    for name in sys.argv[2:]:
        record(Path(name))
