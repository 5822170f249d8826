"""Row programs: physical nodes that are compiled at their first run and opened as often as wanted.

A program holds code and no state of a run; what it remembers between its rows is in generators and in the Activation.
"""
from __future__ import annotations

from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.exec.activation import Activation
    from sqlvec.expr.bound import Column
    from sqlvec.plan.physical import Node


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
