"""Uniqueness: find the rows that a new row collides with, and do what the conflict action says.

The checks go in one order: the rowid, then the unique indexes in planner list order (newest first, those with their own REPLACE last);
an UPSERT clause brings its target to the front.  Where the rowid's own clause is REPLACE and other unique indexes exist, the rowid comes last.

Each check that finds another row takes the action of the statement's OR clause, else of the matching ON CONFLICT clause, else of the constraint
itself: raise (ABORT, FAIL, ROLLBACK), skip the row (IGNORE), delete the other row (REPLACE), or update it (UPSERT).

Follows "ON CONFLICT", "REPLACE", "UPSERT" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.exec.dml.constraints import fails
from sqlvec.exec.dml.delete import remove_row
from sqlvec.expr.operations import IgnoreRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from sqlvec.exec.dml.table_writer import TableWriter
    from sqlvec.plan.physical_dml import UpsertClause
    from sqlvec.schema.objects import Index

    Image = tuple[Any, ...]

ROWID_CHECK = -1
STORE = "store"
SKIP = "skip"


class UpsertHit:
    """A collision that an ON CONFLICT ... DO UPDATE clause takes over."""

    __slots__ = ("clause", "image")

    def __init__(self, clause: UpsertClause, image: Image) -> None:
        self.clause = clause
        self.image = image


def check_order(writer: TableWriter, upserts: tuple[UpsertClause, ...], override: str | None) -> list[int]:
    """The uniqueness checks in order: positions in ``writer.entries``, or ROWID_CHECK."""
    unique = [position for position, entry in enumerate(writer.entries) if entry.is_unique]
    if not writer.key_positions:
        late = writer.table.key_conflict == "REPLACE" and override is None and writer.entries and not upserts
        unique = [*unique, ROWID_CHECK] if late else [ROWID_CHECK, *unique]
    if not upserts:
        return unique
    first: list[int] = []
    for clause in upserts:
        if clause.matches_all:
            break
        for check in unique:
            is_target = clause.on_rowid if check == ROWID_CHECK else writer.entries[check].index is clause.index
            if is_target and check not in first:
                first.append(check)
    return first + [check for check in unique if check not in first]


def clause_for(writer: TableWriter, upserts: tuple[UpsertClause, ...], check: int) -> UpsertClause | None:
    """The ON CONFLICT clause that takes a collision found by ``check``."""
    for clause in upserts:
        if clause.matches_all:
            return clause
        if clause.on_rowid if check == ROWID_CHECK else writer.entries[check].index is clause.index:
            return clause
    return None


def uniqueness_error(writer: TableWriter, check: int) -> errors.SqlError:
    table = writer.table
    if check == ROWID_CHECK:
        if table.rowid_column >= 0:
            return errors.unique_failed(f"{table.name}.{table.columns[table.rowid_column].name}", errors.CONSTRAINT_PRIMARYKEY)
        return errors.unique_failed(f"{table.name}.rowid", errors.CONSTRAINT_ROWID)
    return index_error(writer.entries[check].index)


def index_error(index: Index) -> errors.SqlError:
    """The failure of a unique index."""
    table = index.table
    extended = errors.CONSTRAINT_PRIMARYKEY if index.origin == "pk" else errors.CONSTRAINT_UNIQUE
    fields = index.columns[: index.key_count]
    if any(field.expression is not None for field in fields):
        return errors.unique_failed(f"index '{index.name}'", extended)
    return errors.unique_failed(", ".join(f"{table.name}.{field.name}" for field in fields), extended)


def make_unique(
    writer: TableWriter,
    image: Image,
    values: list[tuple[Any, ...] | None],
    override: str | None,
    order: list[int],
    old: Image | None = None,
    upserts: tuple[UpsertClause, ...] = (),
    fresh_rowid: bool = False,
) -> Generator[Any, None, Any]:
    """Check ``image`` (its index ``values``) in ``order``; the result is STORE, SKIP or an UpsertHit.

    ``old`` is the row that is being updated: it doesn't collide with itself.  A ``fresh_rowid`` was free when it was chosen; only programs that
    REPLACE sets off can have taken it since.  Yields those programs."""
    old_key = None if old is None else writer.key(old)
    replaced = False
    for check in order:
        if fresh_rowid and check == ROWID_CHECK:
            continue
        key = _other_key(writer, check, image, values, old_key)
        if key is None:
            continue
        own = writer.table.key_conflict if check == ROWID_CHECK else writer.entries[check].write.action
        clause = clause_for(writer, upserts, check) if upserts else None
        if clause is not None:
            if clause.assignments is None:
                return SKIP
            other = writer.read(key)
            if other is None:
                raise errors.corrupt()
            return UpsertHit(clause, other)
        action = override or own or "ABORT"
        if action == "IGNORE":
            return SKIP
        if action != "REPLACE":
            raise fails(uniqueness_error(writer, check), action)
        other = writer.read(key)
        if other is None:
            raise errors.corrupt()
        try:
            yield from remove_row(writer, other, writer.write.delete_programs)
        except IgnoreRow:
            pass                                # the other row stays, and is found again below
        replaced = True
    if replaced and (writer.write.delete_programs or writer.write.parent_keys):
        # Programs may have put new rows in the way.
        for check in order:
            if _other_key(writer, check, image, values, old_key) is not None:
                raise uniqueness_error(writer, check)
    return STORE


def _other_key(writer: TableWriter, check: int, image: Image, values: list[tuple[Any, ...] | None], old_key: Any) -> Any:
    """The key of another row that has the same unique key, or None."""
    if check == ROWID_CHECK:
        key = image[-1]
        return None if key == old_key or not writer.tree.contains(key) else key
    fields = values[check]
    if fields is None:
        return None
    key = writer.find_duplicate(check, fields)
    return None if key == old_key else key
