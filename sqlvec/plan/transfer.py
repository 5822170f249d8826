"""``INSERT INTO t SELECT * FROM s`` between tables of one shape: rows may be moved as they are.

Where the target has indexes but no INTEGER PRIMARY KEY and is empty, rows keep the rowids that they have in the source.  Where nothing in the target can
stand in the way (see :func:`moves_always`) SQLite makes no query at all: generated columns are copied along and EXPLAIN QUERY PLAN is empty; else it makes
one for the case that the target isn't empty, and that has a value for each generated column too many.  Everything else about it is an ordinary INSERT.

Follows the manual's "INSERT"; facts: the transfer optimisation.
"""
from __future__ import annotations

from sqlvec.parse import ast
from sqlvec.plan import schema_expr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.plan.scope import Binding
    from sqlvec.schema.objects import Index, Table


def source_table(select: ast.Select | None, catalogs: Any, schema: str | None) -> Table | None:
    """The table of a bare ``SELECT * FROM s``."""
    if select is None or select.with_ is not None or select.order_by or select.limit is not None:
        return None
    core = select.body
    if not isinstance(core, ast.SelectCore) or core.distinct or core.where is not None or core.group_by or core.having is not None or core.windows:
        return None
    if len(core.columns) != 1 or not isinstance(core.columns[0], ast.Star) or len(core.from_) != 1:
        return None
    name = core.from_[0].source
    if not isinstance(name, ast.TableName) or name.args is not None:
        return None
    table = catalogs.find_table(name.schema.text if name.schema is not None else schema, name.name.text)
    return table if table is not None and table.kind == "table" else None  # type: ignore[no-any-return]


def may_transfer(target: Table, source: Table, binding: Binding, settings: Any) -> bool:
    """Have both tables one shape, so that rows can be moved as they are?"""
    if target is source or (target.database == source.database and target.name.lower() == source.name.lower()):
        return False
    if target.kind != "table" or target.without_rowid != source.without_rowid or target.rowid_column != source.rowid_column:
        return False
    if len(target.columns) != len(source.columns) or (target.strict and not source.strict):
        return False
    if (settings.foreign_keys and target.foreign_keys) or settings.count_changes:
        return False
    for number, (mine, theirs) in enumerate(zip(target.columns, source.columns, strict=True)):
        if mine.affinity != theirs.affinity or mine.collation.lower() != theirs.collation.lower():
            return False
        if (mine.generated is None) != (theirs.generated is None) or (mine.generated is not None and mine.is_stored != theirs.is_stored):
            return False
        if mine.not_null is not None and theirs.not_null is None:
            return False
        if number and mine.generated is None and mine.default_text != theirs.default_text:
            return False
    if any(column.generated is not None for column in target.columns):
        if dict(schema_expr.bind_generated(target, 0, binding)) != dict(schema_expr.bind_generated(source, 0, binding)):
            return False
    if target.checks:
        mine_checks, their_checks = (schema_expr.bind_checks(table, 0, binding) for table in (target, source))
        if [expression for expression, _ in mine_checks] != [expression for expression, _ in their_checks]:
            return False
    return all(any(_is_twin(index, other) for other in source.indexes) for index in target.indexes)


def _is_twin(index: Index, other: Index) -> bool:
    if index.key_count != other.key_count or index.unique != other.unique or index.where != other.where:
        return False
    return all(
        mine.column == theirs.column and mine.descending == theirs.descending and mine.collation.lower() == theirs.collation.lower()
        and mine.expression == theirs.expression
        for mine, theirs in zip(index.columns[: index.key_count], other.columns[: index.key_count], strict=True)
    )


def keeps_rowids(target: Table) -> bool:
    """Do rows moved into this table, when it is empty, keep their rowids?"""
    return not target.without_rowid and target.rowid_column < 0 and bool(target.indexes)


def moves_always(target: Table, action: str | None) -> bool:
    """Do rows move into this table whether it is empty or not?"""
    if (action or (target.key_conflict if target.rowid_column >= 0 else None) or "ABORT") not in ("ABORT", "ROLLBACK"):
        return False
    if target.without_rowid or any(index.unique for index in target.indexes):
        return False
    return target.rowid_column >= 0 or not target.indexes
