"""The activation: all state of one running program.

Compiled code has no state of its own: memos of sub-queries, materialised queries, automatic indexes and queues live in the ``slots`` of an
:class:`Activation`, one per run of a program, so that recursive triggers can run the same code again while it is running.
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.exec.context import RunContext
    from sqlvec.schema.objects import Index, Table


class Activation:
    """``slots``: what the program remembers, by key (a Subquery, a slot number, a compiled level); ``context``: the run context."""

    __slots__ = ("context", "slots")

    def __init__(self, context: RunContext) -> None:
        self.context = context
        self.slots: dict[Any, Any] = {}

    def table_tree(self, table: Table) -> Any:
        """The tree of a rowid table."""
        return self.context.table_tree(table)

    def index_tree(self, index: Index) -> Any:
        """The tree of an index or WITHOUT ROWID table."""
        return self.context.index_tree(index)

    def forget(self) -> None:
        """Drop all remembered state (a new run of the same program)."""
        self.slots.clear()
