"""Programs: running triggers and foreign-key actions.

A program run has its own OLD and NEW rows, handed to its statements as outer values; every statement of it gets a fresh activation.
``changes()`` and ``last_insert_rowid()`` show what happens inside while the program runs and go back to what they were when it ends.

A program whose token is on the running list is skipped, unless recursive triggers are on or it is a foreign-key action; 1,000 nested runs are the limit.

Follows "CREATE TRIGGER" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.exec.dml.index_entries import is_true
from sqlvec.exec.dml.source import bind, new_frame, rows_of
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from typing import Any

    from sqlvec.exec.dml.write_state import WriteState
    from sqlvec.plan.physical_dml import Program

    Image = tuple[Any, ...]

MAX_DEPTH = 1000
STEPS = {
    "Insert": "sqlvec.exec.dml.insert:steps",
    "Update": "sqlvec.exec.dml.update:steps",
    "Delete": "sqlvec.exec.dml.delete:steps",
    "VtabWrite": "sqlvec.exec.dml.vtab_write:steps",
}


def outer_values(program: Program, old: Image | None, new: Image | None) -> Image:
    """OLD and NEW images side by side, as ``Program.columns`` lays them out."""
    if old is None:
        assert new is not None
        return (None,) * len(new) + new
    return old + ((None,) * len(old) if new is None else new)


def run_program(state: WriteState, program: Program, old: Image | None, new: Image | None, override: str | None) -> Generator[Any, None, None]:
    """Run one program for one row.  ``override``: the OR clause of the statement that set it off, which rules inside as well."""
    context = state.context
    running = state.running
    if not program.is_recursive and program.token in running and not context.settings.recursive_triggers:
        return
    if len(running) >= MAX_DEPTH:
        raise errors.trigger_recursion()
    outer = outer_values(program, old, new)
    if program.when is not None:
        if not is_true(bind((program.when,), (), new_frame(context, program.columns, outer))(())[0]):
            return
    transaction = state.transaction
    saved = (transaction.changes, transaction.last_insert_rowid, state.override)
    running.append(program.token)
    state.override = override
    try:
        for plan in program.statements:
            frame = new_frame(context, program.columns, outer)
            name = STEPS.get(type(plan.root).__name__)
            if name is None:
                for _ in rows_of(plan.root, frame):
                    pass
                continue
            outcome = resolve("sqlvec.exec.dml.outcome:Outcome")(transaction)
            yield resolve(name)(plan.root, state, frame, outcome)
            outcome.count()
    finally:
        running.pop()
        transaction.changes, transaction.last_insert_rowid, state.override = saved


def run_query(state: WriteState, program: Program, old: Image) -> Iterator[tuple[Any, ...]]:
    """The rows of a program that is one SELECT over an OLD row."""
    outer = outer_values(program, old, None)
    plan = program.statements[0]
    return rows_of(plan.root, new_frame(state.context, program.columns, outer))
