"""Rowids: what an INSERT's value for the rowid means, and choosing a new one.

A new rowid is the largest plus one; 1 in an empty table; when the largest is 2**63-1 a random free one is tried.  AUTOINCREMENT never reuses: it takes
the larger of table and sqlite_sequence, and is full at the end of the range.

Follows "Rowid Tables" and "SQLite Autoincrement" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.resolve import resolve
from sqlvec.values.storage import to_numeric_affinity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.exec.dml.table_writer import TableWriter

LARGEST = 9223372036854775807


def as_rowid(value: Any) -> int:
    """A value stored as rowid must be an integer, or text or a real that is one."""
    if type(value) is int:
        return value
    number = to_numeric_affinity(value)
    if type(number) is not int:
        raise errors.datatype_mismatch()
    return number


def new_rowid(writer: TableWriter) -> int:
    """A rowid for a row that doesn't say one."""
    largest = writer.tree.max_rowid()
    if writer.table.autoincrement:
        sequence = writer.state.sequence(writer.table)
        base = max(sequence.value, largest or 0)
        if base >= LARGEST:
            raise errors.full()
        sequence.value = base + 1
        sequence.changed = True
        return base + 1
    if largest is None:
        return 1
    if largest < LARGEST:
        return largest + 1  # type: ignore[no-any-return]
    random_bytes = resolve("os:urandom")
    for _ in range(100):
        candidate = int.from_bytes(random_bytes(8), "big") >> 2 or 1
        if not writer.tree.contains(candidate):
            return candidate
    raise errors.full()


def note_rowid(writer: TableWriter, rowid: int) -> None:
    """An explicit rowid moves the sequence of an AUTOINCREMENT table on; the row of sqlite_sequence appears with the first insert."""
    if writer.table.autoincrement:
        sequence = writer.state.sequence(writer.table)
        if rowid > sequence.value:
            sequence.value = rowid
        sequence.changed = True
