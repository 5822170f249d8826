"""Row programs and their activations: compiled code, and all state of one run of it.

A program is a physical node that is compiled at its first run and opened as often as wanted.  It holds code and no state: memos of sub-queries,
materialised queries, automatic indexes and queues live in the ``slots`` of an :class:`Activation`, one per run of a program, so that recursive
triggers can run the same code again while it is running.
"""
from __future__ import annotations

from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.exec.context import RunContext
    from sqlvec.expr.bound import Column
    from sqlvec.plan.physical import Node
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


class RowProgram:
    """A compiled physical node.  ``rows(activation, outer_values)`` opens it; ``outer_values`` in the order of ``outer_columns``."""

    __slots__ = ("_compiled_for", "_open", "keeps_json", "node", "outer_columns")

    def __init__(self, node: Node, outer_columns: tuple[Column, ...] = (), keeps_json: bool = False) -> None:
        self.keeps_json = keeps_json            # a scalar sub-query hands the JSON subtype on
        self.node = node
        self.outer_columns = outer_columns
        self._open: Any = None
        self._compiled_for: Any = None

    def rows(self, activation: Activation, outer_values: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of one run."""
        collations = activation.context.collations
        if self._compiled_for != (id(collations), collations.generation):
            self._open = resolve("sqlvec.exec.operators:Compiler")(activation.context, self.outer_columns, self.keeps_json).operator(self.node)
            self._compiled_for = (id(collations), collations.generation)
        return self._open(activation, outer_values)  # type: ignore[no-any-return]


_programs: dict[Any, tuple[Any, RowProgram]] = {}
_PROGRAM_LIMIT = 600


def program_of(node: Node, outer_columns: tuple[Column, ...] = (), keeps_json: bool = False) -> RowProgram:
    """The program of a node, one per node object and outer columns."""
    key = (id(node), keeps_json, tuple((column.source, column.number) for column in outer_columns))
    found = _programs.get(key)
    if found is not None:
        return found[1]
    if len(_programs) >= _PROGRAM_LIMIT:
        _programs.clear()
    program = RowProgram(node, tuple(outer_columns), keeps_json)
    _programs[key] = (node, program)
    return program
