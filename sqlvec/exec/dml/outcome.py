"""What a writing statement leaves: the number of changed rows and the RETURNING rows; and the frame in which a top-level one runs.

RETURNING rows are collected until the writing has ended, so that a reader that stops early stops no write.  ``changes()`` is set when a statement ends, 0 if
it failed; ``total_changes()`` then grows too, for every statement of a program as well.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.exec.dml.source import ProgramFrame, bind
from sqlvec.exec.dml.write_state import WriteState, drive
from sqlvec.pages.record import integer_form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from sqlvec.exec.context import RunContext
    from sqlvec.exec.dml.table_writer import TableWriter


class Outcome:
    """Counts and rows of one statement (of a program or top-level)."""

    __slots__ = ("changes", "rows", "transaction")

    def __init__(self, transaction: Any) -> None:
        self.transaction = transaction
        self.changes = 0
        self.rows: list[tuple[Any, ...]] = []

    def add(self, count: int) -> None:
        """So many rows were changed by the statement itself."""
        self.changes += count

    def count(self) -> None:
        """The statement has ended: its changes show."""
        self.transaction.changes = self.changes
        self.transaction.total_changes += self.changes

    def returning(self, node: Any, frame: ProgramFrame) -> Callable[[tuple[Any, ...]], None] | None:
        """A function that adds the RETURNING row of an image, None without the clause."""
        if node.returning is None:
            return None
        function, rows = bind(node.returning.expressions, node.write.columns, frame), self.rows
        shown = [(position, form == "real") for position, form in enumerate(node.returning.forms) if form is not None]

        def emit(image: tuple[Any, ...]) -> None:
            rows.append(function(image))

        def emit_shown(image: tuple[Any, ...]) -> None:
            row = list(function(image))
            for position, is_real in shown:
                value = row[position]
                if is_real:
                    if type(value) is int:
                        row[position] = float(value)
                elif type(value) is float:
                    row[position] = integer_form(value)
            rows.append(tuple(row))

        if shown:
            return emit_shown

        return emit


def run_statement(steps: Any, node: Any, context: RunContext, activation: Any) -> Iterator[tuple[Any, ...]]:
    """Run a top-level writing statement to its end."""
    state = WriteState(context)
    outcome = Outcome(context.transaction)
    try:
        drive(steps(node, state, ProgramFrame(activation), outcome))
        state.finish()
        transaction = context.transaction
        if transaction.autocommit and transaction.deferred_violations > 0 and transaction.active_writes <= 1:
            raise errors.foreign_key_failed()
    except errors.SqlError as error:
        if error.action == "FAIL" and state.immediate_violations > 0:
            context.transaction.changes = 0
            raise errors.foreign_key_failed() from None
        if error.action == "FAIL":
            outcome.count()
        else:
            context.transaction.changes = 0
        raise
    outcome.count()
    if context.settings.count_changes and node.returning is None:
        return iter([(outcome.changes,)])
    return iter(outcome.rows)


def in_key_order(writer: TableWriter, keys: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Collected key rows in the order of the table's own tree, each once."""
    if not writer.key_positions:
        return [(rowid,) for rowid in sorted({row[0] for row in keys})]
    sort_key = writer.tree.layout.sort_key
    found = {sort_key(row): row for row in keys}
    return [found[key] for key in sorted(found)]
