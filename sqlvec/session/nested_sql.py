"""SQL that a running statement needs run: ALTER, VACUUM, ANALYZE, CREATE TABLE AS, shadow tables of modules.

It runs inside the outer statement's transaction, in a frame of its own; it never ends the transaction and leaves changes() and
last_insert_rowid() as they were.
"""
from __future__ import annotations

from sqlvec import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.session.session import Session


def run(session: Session, sql: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Run one statement to its end and return its rows."""
    transaction = session.transaction
    counters = (transaction.changes, transaction.total_changes, transaction.last_insert_rowid)
    statement, _ = session.prepare(sql)
    if statement is None:
        raise errors.misuse()
    statement.bind(parameters)
    writes, reads = transaction.active_writes, transaction.active_reads
    try:
        return list(statement)
    finally:
        transaction.active_writes, transaction.active_reads = writes, reads
        transaction.changes, transaction.total_changes, transaction.last_insert_rowid = counters
