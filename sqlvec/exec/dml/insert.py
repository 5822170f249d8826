"""INSERT and REPLACE.

Per row: the image from the values (defaults for what isn't named); BEFORE triggers; the rowid; affinities and generated columns; constraints;
uniqueness with its conflict actions (UPSERT among them); foreign keys; the row and its index entries; RETURNING; AFTER triggers.

A plain statement with one row of values goes through ``fast_insert``, a function generated for the statement; it hands every row that isn't
plain to the general road here, before it has changed anything.

Follows "INSERT" and "REPLACE" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.exec.dml.conflict import SKIP, STORE, check_order, make_unique
from sqlvec.exec.dml.foreign_keys import check_row
from sqlvec.exec.dml.outcome import Outcome, run_statement
from sqlvec.exec.dml.rowid import as_rowid, new_rowid, note_rowid
from sqlvec.exec.dml.source import ProgramFrame, bind, rows_of
from sqlvec.exec.dml.triggers import run_program
from sqlvec.exec.dml.write_state import WriteState
from sqlvec.expr.operations import IgnoreRow
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from typing import Any

    from sqlvec.exec.context import RunContext
    from sqlvec.exec.dml.table_writer import TableWriter
    from sqlvec.plan.physical_dml import Insert

    Image = tuple[Any, ...]


WORTH_RUNS = 3
WORTH_ROWS = 20
"""After so many runs, or rows of one run, generated code pays."""


class ValueSource:
    """Where one run's values come from: functions for the VALUES rows or the source's rows, and the defaults of the columns that aren't named."""

    __slots__ = ("defaults", "frame", "node", "targets", "width")

    def __init__(self, node: Insert, frame: ProgramFrame) -> None:
        self.node = node
        self.frame = frame
        write = node.write
        self.width = len(write.table.columns) + 1
        self.targets = tuple((position, place) for position, place in enumerate(node.targets) if place >= 0)
        missing = [
            (position, write.defaults[position])
            for position, place in enumerate(node.targets)
            if place < 0 and position < self.width - 1 and write.defaults and write.defaults[position] is not None
        ]
        self.defaults = None
        if missing:
            function = bind(tuple(expression for _, expression in missing), (), frame)
            self.defaults = (tuple(position for position, _ in missing), function)

    def image(self, values: tuple[Any, ...]) -> list[Any]:
        """The raw image of a value row: no affinity applied, no rowid chosen."""
        image: list[Any] = [None] * self.width
        for position, place in self.targets:
            image[position] = values[place]
        if self.defaults is not None:
            positions, function = self.defaults
            for position, value in zip(positions, function(()), strict=True):
                image[position] = value
        return image

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The rows of VALUES or of the source."""
        node = self.node
        if node.value_rows is not None:
            for row in node.value_rows:
                yield bind(row, (), self.frame)(())
        else:
            assert node.source is not None
            rows = rows_of(node.source, self.frame)
            if node.keeps_rowids and self.frame.context.table_tree(node.write.table).max_rowid() is not None:
                rows = ((*row[:-1], None) for row in rows)
            yield from (list(rows) if node.buffered else rows)


def fast_function(node: Insert, writer: TableWriter) -> Any:
    """The generated function of a plain statement, bound to the trees of this run; None where there is none."""
    if not node.is_plain or (writer.context.settings.ignore_check_constraints and node.write.checks):
        return None
    if node.compiled is None:
        node.compiled = resolve("sqlvec.exec.dml.fast_insert:FastInsert")(node, writer)
    return node.compiled.bind((writer.tree, *writer.trees))


def run(node: Insert, context: RunContext, activation: Any) -> Iterator[tuple[Any, ...]]:
    """Run a top-level INSERT; the result is what RETURNING delivers."""
    node.runs += 1
    if node.is_atomic and node.runs > WORTH_RUNS:
        insert = batch(node, context)
        rowid = None if insert is None else insert(context.parameters)
        if rowid is not None:
            transaction = context.transaction
            transaction.last_insert_rowid = rowid
            transaction.changes = 1
            transaction.total_changes += 1
            return iter([(1,)] if context.settings.count_changes else ())
    return run_statement(steps, node, context, activation)


def batch(node: Insert, context: RunContext) -> Callable[[tuple[Any, ...]], int | None] | None:
    """The function that stores a row of parameter values, for running an ``is_atomic`` INSERT many times over; None where there is none.

    It gives the rowid, or None for a row that must go through ``run``.  The trees it holds are good as long as the transaction goes on."""
    if node.compiled is None or (node.write.checks and context.settings.ignore_check_constraints):
        return fast_function(node, WriteState(context).writer(node.write))
    write = node.write
    trees: list[Any] = [context.table_tree(write.table)]
    for entry in write.indexes:
        trees.append(context.index_tree(entry.index))
    return node.compiled.bind(tuple(trees))  # type: ignore[no-any-return]


def steps(node: Insert, state: WriteState, frame: ProgramFrame, outcome: Outcome) -> Generator[Any, None, None]:
    """The statement as a generator of programs to run."""
    source = ValueSource(node, frame)
    emit = outcome.returning(node, frame)
    if node.write.table.kind == "view":
        yield from _view_steps(node, source, state, outcome, emit)
        return
    writer = state.writer(node.write)
    override = state.override or node.action
    order = check_order(writer, node.upserts, override)
    clauses: dict[int, Any] = {}
    fast = None
    waiting = WORTH_ROWS if node.is_plain and not node.is_atomic else 0
    for values in source.rows():
        if waiting:
            waiting -= 1
            if not waiting:
                fast = fast_function(node, writer)
        elif fast is not None:
            rowid = fast(values)
            if rowid is not None:
                state.transaction.last_insert_rowid = rowid
                outcome.add(1)
                continue
        try:
            yield from insert_row(node, writer, source.image(values), override, order, emit, outcome, frame, clauses)
        except IgnoreRow:
            continue


def insert_row(
    node: Insert,
    writer: TableWriter,
    image: list[Any],
    override: str | None,
    order: list[int],
    emit: Callable[[Image], None] | None,
    outcome: Outcome,
    frame: ProgramFrame,
    clauses: dict[int, Any],
) -> Generator[Any, None, None]:
    """Store one row with all that follows from it."""
    codec = writer.codec
    state = writer.state
    alias = writer.table.rowid_column
    is_rowid = not writer.key_positions
    given = None
    if is_rowid:
        given = image[alias] if alias >= 0 and node.targets[alias] >= 0 else image[-1]
        if given is not None:
            given = as_rowid(given)
        if alias >= 0:
            image[alias] = None
    codec.apply_affinities(image)
    if node.triggers.before:
        shown = list(image)
        shown[-1] = -1 if given is None else given
        if alias >= 0:
            shown[alias] = shown[-1]
        codec.compute_generated(shown)
        for program in node.triggers.before:
            yield run_program(state, program, None, tuple(shown), override)
    if is_rowid:
        image[-1] = new_rowid(writer) if given is None else given
        if alias >= 0:
            image[alias] = image[-1]
    if not check_constraints(writer, image, override):
        return
    new = tuple(image)
    index_values = [entry.values(new) for entry in writer.entries]
    verdict = STORE
    if order:
        fresh = given is None and is_rowid
        verdict = yield from make_unique(writer, new, index_values, override, order, None, node.upserts, fresh)
    if verdict == SKIP:
        return
    if verdict != STORE:
        yield from resolve("sqlvec.exec.dml.upsert:update_instead")(node, writer, verdict, new, override, emit, outcome, frame, clauses)
        return
    write = writer.write
    if write.child_keys or write.parent_keys:
        check_row(writer, None, new)
        if node.stores_one_row and state.immediate_violations and not state.running:
            raise errors.foreign_key_failed()
    writer.store(new, index_values)
    if is_rowid:
        if given is not None:
            note_rowid(writer, given)
        state.transaction.last_insert_rowid = new[-1]
    outcome.add(1)
    if emit is not None:
        emit(new)
    for program in node.triggers.after:
        yield run_program(state, program, None, new, override)


def check_constraints(writer: TableWriter, image: list[Any], override: str | None) -> bool:
    """Generated columns, NOT NULL, STRICT, CHECK; False: skip the row.  May change the image."""
    constraints = writer.constraints
    codec = writer.codec
    if constraints.not_null and not constraints.check_not_null(image, override, False):
        return False
    if codec.compute:
        codec.compute_generated(image)
        if constraints.not_null and not constraints.check_not_null(image, override, True):
            return False
    if constraints.strict:
        constraints.check_types(image)
    return not constraints.checks or constraints.check_checks(tuple(image), override, constraints.checks)


def _view_steps(
    node: Insert, source: ValueSource, state: WriteState, outcome: Outcome, emit: Callable[[Image], None] | None
) -> Generator[Any, None, None]:
    """INSERT into a view: its INSTEAD OF triggers, for each row."""
    for values in source.rows():
        image = source.image(values)
        image[-1] = -1
        new = tuple(image)
        try:
            for program in node.triggers.before:
                yield run_program(state, program, None, new, state.override or node.action)
        except IgnoreRow:
            continue
        outcome.add(1)
        if emit is not None:
            emit(new)
