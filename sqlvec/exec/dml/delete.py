"""DELETE: collect the keys, then remove row by row with triggers, foreign keys and RETURNING; or empty the table at once.

Keys are collected before the first row goes.  A plan marked ``one_pass`` has its rows removed in scan order, any other in key order.  Without WHERE,
triggers and foreign keys the trees are cleared whole (the truncate optimisation), which counts as that many changes.

Follows "DELETE" of the manual.
"""
from __future__ import annotations

from sqlvec.exec.dml.foreign_keys import check_row, run_actions
from sqlvec.exec.dml.outcome import Outcome, in_key_order, run_statement
from sqlvec.exec.dml.source import ProgramFrame, bind_condition, rows_of
from sqlvec.exec.dml.triggers import run_program
from sqlvec.expr.operations import IgnoreRow
from sqlvec.pages.bulk_change import remove_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from typing import Any

    from sqlvec.exec.context import RunContext
    from sqlvec.exec.dml.table_writer import TableWriter
    from sqlvec.exec.dml.write_state import WriteState
    from sqlvec.plan.physical_dml import Delete, TriggerSet

    Image = tuple[Any, ...]


def run(node: Delete, context: RunContext, activation: Any) -> Iterator[tuple[Any, ...]]:
    """Run a top-level DELETE; the result is what RETURNING delivers."""
    return run_statement(steps, node, context, activation)


def remove_row(writer: TableWriter, image: Image, programs: TriggerSet | None) -> Generator[Any, None, bool]:
    """Delete one row with all that follows from it; False if a BEFORE trigger removed it first."""
    state = writer.state
    if programs is not None and programs.before:
        for program in programs.before:
            yield run_program(state, program, image, None, None)
        current = writer.read(writer.key(image))
        if current is None:
            return False
        image = current
    write = writer.write
    if write.child_keys or write.parent_keys:
        check_row(writer, image, None)
    writer.remove(image)
    if write.parent_keys:
        yield from run_actions(writer, image, None)
    if programs is not None:
        for program in programs.after:
            yield run_program(state, program, image, None, None)
    return True


def steps(node: Delete, state: WriteState, frame: ProgramFrame, outcome: Outcome) -> Generator[Any, None, None]:
    """The statement as a generator of programs to run."""
    table = node.write.table
    if table.kind == "view":
        yield from _view_steps(node, state, frame, outcome)
        return
    writer = state.writer(node.write)
    if node.source is None:
        outcome.add(_truncate(writer))
        return
    keys = list(rows_of(node.candidates or node.source, frame))
    condition = bind_condition(node.condition, node.write.columns, frame) if node.condition is not None else None
    if not node.one_pass and len(keys) > 1:
        keys = in_key_order(writer, keys)
    returning = outcome.returning(node, frame)
    is_rowid = not writer.key_positions
    is_quiet = not node.triggers and not node.write.child_keys and not node.write.parent_keys and condition is None
    if is_quiet and is_rowid and not writer.entries and returning is None:
        outcome.add(remove_rows(writer.tree, sorted([row[0] for row in keys])))
        return
    for row in writer.in_chunks(keys) if is_quiet else keys:
        image = writer.read(row[0] if is_rowid else row)
        if image is None or (condition is not None and not condition(image)):
            continue
        try:
            removed = yield from remove_row(writer, image, node.triggers)
        except IgnoreRow:
            continue
        if removed:
            outcome.add(1)
            if returning is not None:
                returning(image)


def _truncate(writer: TableWriter) -> int:
    pager = writer.context.databases[writer.table.database].pager
    count: int = pager.clear_tree(writer.tree.root)
    for position, entry in enumerate(writer.entries):
        if not entry.index.is_table_tree:
            pager.clear_tree(writer.trees[position].root)
    return count


def _view_steps(node: Delete, state: WriteState, frame: ProgramFrame, outcome: Outcome) -> Generator[Any, None, None]:
    """DELETE on a view: its INSTEAD OF triggers, for each row."""
    returning = outcome.returning(node, frame)
    assert node.source is not None
    for row in list(rows_of(node.source, frame)):
        image = (*row, None)
        try:
            for program in node.triggers.before:
                yield run_program(state, program, image, None, None)
        except IgnoreRow:
            continue
        outcome.add(1)
        if returning is not None:
            returning(image)
