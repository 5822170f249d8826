"""UPDATE: collect the keys, then change row by row.

Per row: the new image from the stored one and the assignments; BEFORE triggers (columns that the statement doesn't assign are read again after
them); constraints; foreign keys; the trees that change; foreign-key actions; RETURNING; AFTER triggers.

UPDATE FROM has the values of the joined tables collected beside the key; of several matches the last one counts.  :func:`update_row` is also what UPSERT runs.

Follows "UPDATE" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.exec.dml.conflict import ROWID_CHECK, SKIP, check_order, make_unique
from sqlvec.exec.dml.foreign_keys import check_row, run_actions
from sqlvec.exec.dml.outcome import Outcome, run_statement
from sqlvec.exec.dml.rowid import as_rowid
from sqlvec.exec.dml.source import ProgramFrame, bind, bind_condition, rows_of
from sqlvec.exec.dml.triggers import run_program
from sqlvec.expr.bound import Call, columns_of
from sqlvec.expr.operations import IgnoreRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from typing import Any

    from sqlvec.exec.context import RunContext
    from sqlvec.exec.dml.table_writer import TableWriter
    from sqlvec.exec.dml.write_state import WriteState
    from sqlvec.plan.physical_dml import TriggerSet, Update

    Image = tuple[Any, ...]


WORTH_WAITING = 50
"""From so many rows on, new records are stored leaf by leaf."""


class Assignments:
    """Compiled SET list of one statement: ``evaluate(image + extra)`` gives the values for ``targets``; ``entries`` and ``checks`` say which index
    entries and CHECK constraints it can concern."""

    __slots__ = ("checks", "entries", "evaluate", "moves_row", "order", "targets")

    def __init__(self, assignments: tuple[tuple[int, Any], ...], layout: tuple[Any, ...], writer: TableWriter | None, frame: ProgramFrame) -> None:
        self.targets = tuple(target for target, _ in assignments)
        self.evaluate = bind(tuple(expression for _, expression in assignments), layout, frame)
        self.moves_row = False
        self.order: list[int] | None = None
        self.entries: tuple[bool, ...] = ()
        self.checks: tuple[Any, ...] = ()
        if writer is not None:
            self._find_touched(writer)

    def _find_touched(self, writer: TableWriter) -> None:
        alias = writer.table.rowid_column
        keys = set(writer.key_positions) or {-1, alias}
        touched = set(self.targets)
        self.moves_row = not touched.isdisjoint(keys)
        if self.moves_row:
            touched |= {-1, alias}
        for number, expression in writer.write.generated:           # each behind those that it reads
            if any(read in touched for _, read in columns_of(expression)):
                touched.add(number)
        self.checks = tuple(
            compiled for compiled, (expression, _) in zip(writer.constraints.checks, writer.write.checks, strict=False)
            if any(read in touched for _, read in columns_of(expression))
        )
        entries = []
        for entry in writer.entries:
            reads = {position for position in entry.positions if position >= -1}
            for expression in (*entry.write.expressions, *((entry.write.where,) if entry.write.where is not None else ())):
                reads |= {number for _, number in columns_of(expression)}
            entries.append(self.moves_row or not touched.isdisjoint(reads))
        self.entries = tuple(entries)


def run(node: Update, context: RunContext, activation: Any) -> Iterator[tuple[Any, ...]]:
    """Run a top-level UPDATE; the result is what RETURNING delivers."""
    return run_statement(steps, node, context, activation)


def new_image(writer: TableWriter, old: Image, assignments: Assignments, values: tuple[Any, ...]) -> list[Any]:
    """The stored row with the assigned values put in, as they will be stored."""
    image = list(old)
    alias = writer.table.rowid_column
    affinities = writer.codec.affinities
    for target, value in zip(assignments.targets, values, strict=True):
        if target == -1 or target == alias:
            rowid = as_rowid(value)
            image[-1] = rowid
            if alias >= 0:
                image[alias] = rowid
        else:
            image[target] = affinities[target](value)
    if writer.codec.compute:
        writer.codec.compute_generated(image)
    return image


def update_row(
    writer: TableWriter,
    old: Image,
    assignments: Assignments,
    values: tuple[Any, ...],
    override: str | None,
    triggers: TriggerSet,
    emit: Callable[[Image], None] | None,
    outcome: Outcome,
) -> Generator[Any, None, None]:
    """Change one stored row with all that follows from it."""
    state = writer.state
    image = new_image(writer, old, assignments, values)
    if triggers.before:
        for program in triggers.before:
            yield run_program(state, program, old, tuple(image), override)
        current = writer.read(writer.key(old))
        if current is None:
            return
        if current != old:
            old = current
            image = new_image(writer, old, assignments, values)
    if not _check_row_constraints(writer, image, override, assignments.checks):
        return
    new = tuple(image)
    entries = writer.entries
    touched = assignments.entries
    index_values = [entry.values(new) if touched[position] else None for position, entry in enumerate(entries)]
    order = assignments.order
    if order is None:
        order = assignments.order = [
            check for check in check_order(writer, (), override) if (assignments.moves_row if check == ROWID_CHECK else touched[check])
        ]
    if order:
        verdict = yield from make_unique(writer, new, index_values, override, order, old)
        if verdict == SKIP:
            return
        if writer.write.delete_programs and writer.read(writer.key(old)) != old:
            # A trigger of a row that REPLACE removed has changed the row that is being updated.
            raise errors.SqlError(errors.CONSTRAINT, "constraint failed")
    write = writer.write
    if write.child_keys or write.parent_keys:
        check_row(writer, old, new)
    writer.replace(old, new, index_values, touched)
    outcome.add(1)
    if write.parent_keys:
        yield from run_actions(writer, old, new)
    if emit is not None:
        emit(new)
    for program in triggers.after:
        yield run_program(state, program, old, new, override)


def _check_row_constraints(writer: TableWriter, image: list[Any], override: str | None, checks: tuple[Any, ...]) -> bool:
    constraints = writer.constraints
    if constraints.not_null:
        if not constraints.check_not_null(image, override, False):
            return False
        if writer.codec.compute:
            writer.codec.compute_generated(image)
            if not constraints.check_not_null(image, override, True):
                return False
    if constraints.strict:
        constraints.check_types(image)
    return not checks or constraints.check_checks(tuple(image), override, checks)


def steps(node: Update, state: WriteState, frame: ProgramFrame, outcome: Outcome) -> Generator[Any, None, None]:
    """The statement as a generator of programs to run."""
    is_view = node.write.table.kind == "view"
    writer = None if is_view else state.writer(node.write)
    assignments = Assignments(node.assignments, node.write.columns + node.extra, writer, frame)
    width = node.key_width
    rows: Any = [row for row in rows_of(node.candidates or node.source, frame) if row[0] is not None or is_view or width > 1]
    override = state.override or node.action
    emit = outcome.returning(node, frame)
    if writer is None:
        yield from _view_steps(node, state, frame, outcome, rows, assignments, emit)
        return
    if not node.one_pass and node.candidates is None and len(rows) > 1:
        rows = _in_key_order(writer, rows, width)
    is_rowid = not writer.key_positions
    is_quiet = not node.triggers and not node.write.child_keys and not node.write.parent_keys and not assignments.moves_row
    if is_quiet and node.condition is None and override != "REPLACE" and not _may_replace(writer):
        if is_rowid and len(rows) > WORTH_WAITING and node.returning is None and not _reads_tables(node):
            writer.pending = {}
        rows = writer.in_chunks(rows)
    try:
        condition = bind_condition(node.condition, node.write.columns, frame) if node.condition is not None else None
        yield from _change_rows(node, writer, rows, assignments, condition, override, emit, outcome)
    except errors.SqlError:
        # What a failure leaves of the statement is decided elsewhere: the rows changed so far must be there.
        if not writer.tree.pager.failed:
            writer.flush()
        raise
    writer.flush()
    writer.pending = None


def _change_rows(
    node: Update, writer: TableWriter, rows: Any, assignments: Assignments, condition: Any, override: str | None, emit: Any, outcome: Outcome
) -> Generator[Any, None, None]:
    is_rowid = not writer.key_positions
    width = node.key_width
    evaluate = assignments.evaluate
    for row in rows:
        old = writer.read(row[0] if is_rowid else row[:width])
        if old is None or (condition is not None and not condition(old)):
            continue
        values = evaluate(old + row[width:])
        try:
            yield from update_row(writer, old, assignments, values, override, node.triggers, emit, outcome)
        except IgnoreRow:
            continue


def _reads_tables(node: Update) -> bool:
    """Might an assignment read the table while its records wait: through a sub-query, or a function that isn't built in?"""
    for _, expression in node.assignments:
        for part in expression.walk():
            if getattr(part, "subquery", None) is not None or (isinstance(part, Call) and not part.function.builtin):
                return True
    return False


def _may_replace(writer: TableWriter) -> bool:
    """May a constraint of the table remove other rows?"""
    return any(entry.write.action == "REPLACE" for entry in writer.entries)


def _in_key_order(writer: TableWriter, rows: list[tuple[Any, ...]], width: int) -> list[tuple[Any, ...]]:
    """One row per key (the last one), in the order of the table's own tree."""
    if not writer.key_positions:
        by_rowid = {row[0]: row for row in rows}
        return [by_rowid[rowid] for rowid in sorted(by_rowid)]
    sort_key = writer.tree.layout.sort_key
    found = {sort_key(row[:width]): row for row in rows}
    return [found[key] for key in sorted(found)]


def _view_steps(
    node: Update, state: WriteState, frame: ProgramFrame, outcome: Outcome, rows: list[Any], assignments: Assignments, emit: Any
) -> Generator[Any, None, None]:
    """UPDATE of a view: its INSTEAD OF triggers, for each row."""
    width = node.key_width
    for row in rows:
        old = (*row[:width], None)
        image = list(old)
        for target, value in zip(assignments.targets, assignments.evaluate(old + row[width:]), strict=True):
            image[target] = value
        new = tuple(image)
        try:
            for program in node.triggers.before:
                yield run_program(state, program, old, new, state.override or node.action)
        except IgnoreRow:
            continue
        outcome.add(1)
        if emit is not None:
            emit(new)
