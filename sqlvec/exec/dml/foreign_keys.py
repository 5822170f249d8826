"""Foreign keys: counters of violations, and the actions of ON DELETE and ON UPDATE.

Each change of a row adds or removes violations.  Immediate ones count in the WriteState and must be zero when the statement ends, deferred ones in the
transaction and must be zero at COMMIT.

    child side    a new row whose parent is missing adds one; an old row whose parent is missing takes one away
    parent side   a removed parent key adds one per child row that refers to it; a new parent key takes away those that it now satisfies

Actions (CASCADE, SET NULL, SET DEFAULT, RESTRICT) are programs run after the parent row has changed; what they do to child rows brings the counters back.

Follows "SQLite Foreign Key Support" of the manual.
"""
from __future__ import annotations

from sqlvec.exec.dml.table_writer import same
from sqlvec.exec.dml.triggers import run_program, run_query
from sqlvec.values.storage import AFFINITY_FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from sqlvec.exec.context import RunContext
    from sqlvec.exec.dml.table_writer import TableWriter
    from sqlvec.exec.dml.write_state import WriteState
    from sqlvec.plan.physical_dml import ChildKey, ParentKey

    Image = tuple[Any, ...]


def _count(state: WriteState, deferred: bool, change: int) -> None:
    """Change a counter; removing never goes below zero."""
    if deferred or state.context.settings.defer_foreign_keys:
        state.transaction.deferred_violations = max(0, state.transaction.deferred_violations + change)
    else:
        state.immediate_violations = max(0, state.immediate_violations + change)


def _is_counting(state: WriteState, deferred: bool) -> bool:
    if deferred or state.context.settings.defer_foreign_keys:
        return state.transaction.deferred_violations > 0
    return state.immediate_violations > 0


def parent_exists(writer: TableWriter, key: ChildKey, image: Image, is_new: bool, gone: Image | None = None) -> bool:
    """Is there a parent row for the key in ``image``?  A row may be its own parent; ``gone`` is the row that ``image`` takes the place of."""
    parent = key.parent
    if parent is None:
        return False
    values = key_values(key, image)
    if is_new and parent is writer.table and all(
        value == image[column] for value, column in zip(values, key.parent_columns, strict=True)
    ):
        return True
    if gone is not None and parent is writer.table and all(
        same(value, gone[column]) for value, column in zip(values, key.parent_columns, strict=True)
    ):
        return False
    return is_stored(writer.context, key, values)


def key_values(key: ChildKey, image: Image) -> list[Any]:
    """The key of a child row as its parent would store it."""
    return [AFFINITY_FUNCTIONS[affinity](image[column]) for column, affinity in zip(key.columns, key.affinities, strict=True)]


def is_stored(context: RunContext, key: ChildKey, values: list[Any]) -> bool:
    """Has the parent table a row with the key ``values`` (of :func:`key_values`)?"""
    if key.parent_index is None:
        assert key.parent is not None
        rowid = values[0]
        if type(rowid) is float and rowid.is_integer():
            rowid = int(rowid)
        return type(rowid) is int and bool(context.table_tree(key.parent).contains(rowid))
    prefix = tuple([values[position] for position in key.order])
    return context.index_tree(key.parent_index).contains_prefix(prefix) is not None


def check_row(writer: TableWriter, old: Image | None, new: Image | None) -> None:
    """Count the violations that removing ``old`` and adding ``new`` make or mend.  Called before the row changes."""
    state = writer.state
    for key in writer.write.child_keys:
        _check_child(writer, state, key, old, new)
    for parent_key in writer.write.parent_keys:
        _check_parent(state, parent_key, old, new)


def _check_child(writer: TableWriter, state: WriteState, key: ChildKey, old: Image | None, new: Image | None) -> None:
    columns = key.columns
    if old is not None and new is not None and all(same(old[column], new[column]) for column in columns):
        is_self = key.parent is writer.table and any(not same(old[column], new[column]) for column in key.parent_columns)
        if not is_self:
            return
    if old is not None and _is_counting(state, key.deferred) and not any(old[column] is None for column in columns):
        if not parent_exists(writer, key, old, False):
            _count(state, key.deferred, -1)
    if new is not None and not any(new[column] is None for column in columns):
        if not parent_exists(writer, key, new, True, old):
            _count(state, key.deferred, 1)


def _check_parent(state: WriteState, key: ParentKey, old: Image | None, new: Image | None) -> None:
    columns = key.columns
    if old is not None and new is not None and all(same(old[column], new[column]) for column in columns):
        return
    if new is not None and _is_counting(state, key.deferred) and not any(new[column] is None for column in columns):
        _count(state, key.deferred, -_referring(state, key, new))
    if old is not None and not any(old[column] is None for column in columns):
        _count(state, key.deferred, _referring(state, key, old))


def _referring(state: WriteState, key: ParentKey, image: Image) -> int:
    """Number of child rows that refer to the key in ``image`` (the row itself excluded)."""
    assert key.count is not None
    for row in run_query(state, key.count, image):
        return row[0]  # type: ignore[no-any-return]
    return 0


def run_actions(writer: TableWriter, old: Image, new: Image | None) -> Generator[Any, None, None]:
    """ON DELETE (``new`` None) or ON UPDATE actions, after the row has changed.  Yields programs."""
    state = writer.state
    event = "DELETE" if new is None else "UPDATE"
    for key in writer.write.parent_keys:
        program = key.actions.get(event)
        if program is None:
            continue
        action = key.on_delete if new is None else key.on_update
        if action == "RESTRICT" and state.context.settings.defer_foreign_keys:
            continue
        if new is not None and all(same(old[column], new[column]) for column in key.columns):
            continue
        yield run_program(state, program, old, new, "ABORT")
