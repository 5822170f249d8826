"""What a function may know about its connection and statement: clock, counters, random numbers, limits.

Functions are below the session; whoever runs a statement hands one :class:`FunctionContext` down.  The session subclasses it or
assigns the callables.  The clock is fixed per statement: ``now()`` answers the same until ``new_statement()``.
"""
from __future__ import annotations

import time

from sqlvec.resolve import resolve
from sqlvec.values.compare import Collations
from sqlvec.values.text import UTF8

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _zero() -> int:
    return 0


class FunctionContext:
    """``changes``, ``total_changes``, ``last_insert_rowid`` are callables of the session; ``collations`` the connection's;
    ``run_sql(sql, *parameters) -> rows`` exists for shell functions that query (sha3_query)."""

    __slots__ = ("_now", "changes", "collations", "encoding", "last_insert_rowid", "run_sql", "total_changes")

    def __init__(self, collations: Collations | None = None, encoding: int = UTF8) -> None:
        self.collations = collations or Collations(encoding)
        self.encoding = encoding
        self.changes: Callable[[], int] = _zero
        self.total_changes: Callable[[], int] = _zero
        self.last_insert_rowid: Callable[[], int] = _zero
        self.run_sql: Callable[..., Any] | None = None
        self._now: int | None = None

    def new_statement(self) -> None:
        """Forget the clock: the next look fixes it for the statement that now starts."""
        self._now = None

    def now(self) -> int:
        """Milliseconds since the start of the Julian day count, fixed per statement."""
        if self._now is None:
            self._now = time.time_ns() // 1000000 + 210866760000000
        return self._now

    def random_bytes(self, count: int) -> bytes:
        return resolve("os:urandom")(count)
