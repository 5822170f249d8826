"""Filling an index from its table: CREATE INDEX, REINDEX, and the copies that VACUUM makes.

All entries are made in table order, sorted as the tree orders them, checked for uniqueness and appended.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.exec.dml.conflict import index_error
from sqlvec.exec.dml.index_entries import EntryMaker
from sqlvec.exec.dml.row_images import RowCodec, scan_images
from sqlvec.pages.bulk_load import fill_index
from sqlvec.plan.write_set import WriteBinder
from sqlvec.values import text as text_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.commands.context import CommandContext
    from sqlvec.schema.objects import Index


def fill(context: CommandContext, index: Index) -> None:
    """Make all entries of an empty index tree."""
    try:
        _fill(context, index)
    except errors.SqlError as error:
        error.phase = error.phase or "step"
        raise


def _fill(context: CommandContext, index: Index) -> None:
    table = index.table
    run_context = context.run_context()
    binder = WriteBinder(context.plan_context())
    write = binder.table_write(table)
    entry = next((entry for entry in write.indexes if entry.index is index), None)
    if entry is None:
        entry = binder.index_write(index, write)
    codec = RowCodec(write, run_context)
    maker = EntryMaker(entry, write, run_context, codec.schema_format)
    entries = []
    for image in scan_images(table, write, run_context, codec):
        values = maker.values(image)
        if values is not None:
            entries.append(values)
    tree = run_context.index_tree(index)
    entries = in_tree_order(tree.layout, entries)
    if index.unique:
        _check_unique(index, tree.layout, entries)
    payload = maker.payload
    fill_index(tree, map(payload, entries))


def in_tree_order(layout: Any, entries: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Entries sorted as the tree orders them."""
    if layout.is_plain and not text_module.invalid_text_seen:
        try:
            return sorted(entries)
        except TypeError:
            pass
    count = layout.key_columns
    return sorted(entries, key=lambda values: layout.sort_key(values[:count]))


def _check_unique(index: Index, layout: Any, entries: list[tuple[Any, ...]]) -> None:
    count = index.key_count
    previous: tuple[Any, ...] | None = None
    for values in entries:
        key = values[:count]
        if previous is not None and None not in key and None not in previous and layout.compare(previous, key) == 0:
            error = index_error(index)
            raise errors.SqlError(error.code, error.message, errors.CONSTRAINT_UNIQUE)
        previous = key
