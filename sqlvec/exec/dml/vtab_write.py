"""INSERT, UPDATE and DELETE of virtual tables: each row goes to the module's ``update``.

Rows are collected first, since a module may not be changed under its own cursor.  The first write of a transaction lets the module join it.

Follows "The Virtual Table Mechanism Of SQLite" (xUpdate) of the manual.
"""
from __future__ import annotations

from sqlvec.exec.dml.outcome import Outcome, run_statement
from sqlvec.exec.dml.source import ProgramFrame, bind, rows_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from typing import Any

    from sqlvec.exec.context import RunContext
    from sqlvec.exec.dml.write_state import WriteState
    from sqlvec.plan.physical_dml import VtabWrite


def run(node: VtabWrite, context: RunContext, activation: Any) -> Iterator[tuple[Any, ...]]:
    """Run a top-level statement; the result is what RETURNING delivers."""
    return run_statement(steps, node, context, activation)


def writable_table(node: VtabWrite, context: RunContext) -> Any:
    """The connected table, which takes part in the transaction from now on."""
    table = node.write.table
    instance = context.session.connect_table(table.database, table.name)
    transaction = context.transaction
    if instance not in transaction.virtual_tables:
        instance.begin()
        transaction.virtual_tables.append(instance)
    return instance


def steps(node: VtabWrite, state: WriteState, frame: ProgramFrame, outcome: Outcome) -> Generator[Any, None, None]:
    """The statement; it sets off no programs."""
    yield from ()
    context = state.context
    instance = writable_table(node, context)
    emit = outcome.returning(node, frame)
    conflict = state.override or node.action or "ABORT"
    if node.event == "INSERT":
        _insert(node, instance, conflict, context, frame, outcome, emit)
        return
    assert node.source is not None
    rows = list(rows_of(node.source, frame))
    if node.event == "DELETE":
        for row in rows:
            instance.update("DELETE", row[0], None, row[1:], conflict, context)
            outcome.add(1)
            if emit is not None:
                emit((*row[1:], row[0]))
        return
    targets = tuple(target for target, _ in node.assignments)
    width = node.key_width
    evaluate = bind(tuple(expression for _, expression in node.assignments), node.write.columns + tuple(node.source.columns[width:]), frame)
    for row in rows:
        old = (*row[1:width], row[0])
        image = list(old)
        for target, value in zip(targets, evaluate(old + row[width:]), strict=True):
            image[target] = value
        instance.update("UPDATE", row[0], image[-1], tuple(image[:-1]), conflict, context)
        outcome.add(1)
        if emit is not None:
            emit(tuple(image))


def _insert(
    node: VtabWrite, instance: Any, conflict: str, context: RunContext, frame: ProgramFrame, outcome: Outcome, emit: Any
) -> None:
    width = len(node.write.table.columns) + 1
    if node.value_rows is not None:
        rows = [bind(row, (), frame)(()) for row in node.value_rows]
    else:
        assert node.source is not None
        rows = list(rows_of(node.source, frame))
    targets = [(position, place) for position, place in enumerate(node.targets) if place >= 0]
    for row in rows:
        image: list[Any] = [None] * width
        for position, place in targets:
            image[position] = row[place]
        rowid = instance.update("INSERT", None, image[-1], tuple(image[:-1]), conflict, context)
        if rowid is not None:
            image[-1] = rowid
            context.transaction.last_insert_rowid = rowid
        outcome.add(1)
        if emit is not None:
            emit(tuple(image))
