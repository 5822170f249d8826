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

    __slots__ = ("_trees", "context", "slots")

    def __init__(self, context: RunContext) -> None:
        self.context = context
        self.slots: dict[Any, Any] = {}
        self._trees: dict[int, Any] = {}        # by id of the schema object, which lives as long as the plan

    def table_tree(self, table: Table) -> Any:
        """The tree of a rowid table."""
        tree = self._trees.get(id(table))
        if tree is None:
            tree = self._trees[id(table)] = self.context.table_tree(table)
        return tree

    def index_tree(self, index: Index) -> Any:
        """The tree of an index or WITHOUT ROWID table."""
        tree = self._trees.get(id(index))
        if tree is None:
            tree = self._trees[id(index)] = self.context.index_tree(index)
        return tree

    def forget(self) -> None:
        """Drop all remembered state (a new run of the same program)."""
        self.slots.clear()
