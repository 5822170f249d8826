"""ON CONFLICT ... DO UPDATE: the row that stands in the way is updated instead.

The assignments and the WHERE read the stored row under the table's name and the row that was to be inserted as ``excluded``.  A WHERE that isn't true
makes the whole row a no-op.  The update is an ordinary one, with the UPDATE triggers of the table, but every
constraint that it violates aborts the statement.

Follows "UPSERT" of the manual.
"""
from __future__ import annotations

from sqlvec.exec.dml.index_entries import is_true
from sqlvec.exec.dml.source import ProgramFrame, bind
from sqlvec.exec.dml.update import Assignments, update_row
from sqlvec.expr.bound import Column

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

    from sqlvec.exec.dml.conflict import UpsertHit
    from sqlvec.exec.dml.outcome import Outcome
    from sqlvec.exec.dml.table_writer import TableWriter
    from sqlvec.plan.physical_dml import Insert, UpsertClause

    Image = tuple[Any, ...]


class CompiledClause:
    """Functions of one clause over the stored image followed by the excluded one."""

    __slots__ = ("assignments", "condition")

    def __init__(self, clause: UpsertClause, writer: TableWriter, frame: ProgramFrame) -> None:
        columns = writer.write.columns
        excluded = tuple(Column(clause.excluded_source, column.number, column.name) for column in columns)
        assert clause.assignments is not None
        self.assignments = Assignments(clause.assignments, columns + excluded, writer, frame)
        self.condition = bind((clause.where,), columns + excluded, frame) if clause.where is not None else None


def update_instead(
    node: Insert,
    writer: TableWriter,
    hit: UpsertHit,
    proposed: Image,
    override: str | None,
    emit: Callable[[Image], None] | None,
    outcome: Outcome,
    frame: ProgramFrame,
    made: dict[int, CompiledClause],
) -> Generator[Any, None, None]:
    """Run DO UPDATE for one collision; ``made`` keeps the bound clauses of the run."""
    clause = hit.clause
    compiled = made.get(id(clause))
    if compiled is None:
        compiled = made[id(clause)] = CompiledClause(clause, writer, frame)
    row = hit.image + proposed
    if compiled.condition is not None and not is_true(compiled.condition(row)[0]):
        return
    values = compiled.assignments.evaluate(row)
    yield from update_row(writer, hit.image, compiled.assignments, values, "ABORT", node.update_triggers, emit, outcome)
