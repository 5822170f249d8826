"""``sqlite_stmt``: the prepared statements of the connection.  Only the running one is known here; its counters read zero.

Follows "The SQLITE_STMT Virtual Table" of the manual.
"""
from __future__ import annotations

from sqlvec.vtab.api import Choice, Constraint, Module, VirtualTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class StmtTable(VirtualTable):
    """Rows ``(sql, ncol, ro, busy, nscan, nsort, naidx, nstep, reprep, run, mem)``."""

    columns = tuple((name, "", False) for name in ("sql", "ncol", "ro", "busy", "nscan", "nsort", "naidx", "nstep", "reprep", "run", "mem"))

    def best_index(self, constraints: list[Constraint], order: list[tuple[int, bool]], used: frozenset[int]) -> Choice | None:
        return Choice(0, None, cost=500.0, rows=500)

    def open(self, choice: Choice, arguments: tuple[Any, ...], context: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        for position, statement in enumerate(list(context.session.running), 1):
            yield position, (statement.sql, len(statement.names), int(statement.is_readonly), 1, 0, 0, 0, 0, 0, 1, 0)


class StmtModule(Module):
    """Eponymous only."""

    eponymous = True
    eponymous_only = True

    def connect(self, context: Any, database: str, table: str, arguments: tuple[str, ...], is_new: bool) -> VirtualTable:
        return StmtTable()
