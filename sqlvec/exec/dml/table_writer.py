"""Storing and removing rows of one table: the row, its index entries, nothing else.

A :class:`TableWriter` joins what is compiled once per statement (:class:`CompiledTable`: codec, constraints, entry makers) with the trees of one run.
Both kinds of table look alike from here: a row has a *key*, which is its rowid, or for a WITHOUT ROWID table the tuple of its PRIMARY KEY.
"""
from __future__ import annotations

from itertools import pairwise

from sqlvec import errors
from sqlvec.exec.dml.constraints import RowConstraints
from sqlvec.exec.dml.index_entries import EntryMaker
from sqlvec.exec.dml.row_images import RowCodec
from sqlvec.pages.bulk_change import rewrite_rows
from sqlvec.pages.record import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.exec.dml.write_state import WriteState
    from sqlvec.plan.physical_dml import TableWrite

    Image = tuple[Any, ...]


CHUNK = 500
"""Records read ahead at a time."""


class CompiledTable:
    """What is the same in all runs of a statement."""

    __slots__ = ("codec", "constraints", "entries", "key_positions", "unchecked")

    def __init__(self, write: TableWrite, context: Any) -> None:
        table = write.table
        self.codec = RowCodec(write, context)
        self.constraints = RowConstraints(write, context)
        self.unchecked = context.settings.ignore_check_constraints
        self.entries = tuple(EntryMaker(entry, write, context, self.codec.schema_format) for entry in write.indexes)
        self.key_positions: tuple[int, ...] = ()
        if table.without_rowid:
            index = table.key_index
            assert index is not None
            self.key_positions = tuple(column.column for column in index.columns[: index.key_count])


class TableWriter:
    """See the module essay.  ``tree`` is the table's tree; ``trees[i]`` that of ``entries[i]`` (the table's own for its key index)."""

    __slots__ = ("codec", "constraints", "context", "entries", "key_positions", "pending", "prefetched", "state", "table", "tree", "trees", "write")

    def __init__(self, write: TableWrite, state: WriteState) -> None:
        context = state.context
        compiled = write.compiled
        if compiled is None or compiled.unchecked != context.settings.ignore_check_constraints:
            compiled = write.compiled = CompiledTable(write, context)
        self.write = write
        self.state = state
        self.context = context
        self.table = write.table
        self.codec: RowCodec = compiled.codec
        self.constraints: RowConstraints = compiled.constraints
        self.entries: tuple[EntryMaker, ...] = compiled.entries
        self.key_positions: tuple[int, ...] = compiled.key_positions
        if self.table.without_rowid:
            assert self.table.key_index is not None
            self.tree: Any = context.index_tree(self.table.key_index)
        else:
            self.tree = context.table_tree(self.table)
        self.prefetched: dict[int, bytes] = {}
        self.pending: dict[int, bytes] | None = None        # new records of rows, where they may wait to be stored together
        self.trees = [self.tree if entry.index.is_table_tree else context.index_tree(entry.index) for entry in self.entries]

    # --- reading -----------------------------------------------------------------------------------------------------------------

    def key(self, image: Image | list[Any]) -> Any:
        """The key of a row."""
        if self.key_positions:
            return tuple([image[position] for position in self.key_positions])
        return image[-1]

    def read(self, key: Any) -> Image | None:
        """The image of the row with this key, None when it is gone."""
        if self.key_positions:
            payload = self.tree.contains_prefix(key)
            return None if payload is None else self.codec.image(payload, None)
        payload = self.prefetched.pop(key, None) if self.prefetched else None
        if payload is None:
            payload = self.tree.get(key)
        return None if payload is None else self.codec.image(payload, key)

    def in_chunks(self, keys: list[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """The rows of ``keys`` (rowid first, ascending), with the records of many read ahead of a statement that changes each row once and sets off
        no programs: what it does to one row leaves the others as they are."""
        if self.key_positions or len(keys) < 2 * CHUNK or any(a[0] >= b[0] for a, b in pairwise(keys)):
            yield from keys
            return
        for start in range(0, len(keys), CHUNK):
            chunk = keys[start : start + CHUNK]
            low, high = chunk[0][0], chunk[-1][0]
            if high - low < 4 * CHUNK:
                wanted = {row[0] for row in chunk}
                self.prefetched = {
                    rowid: payload for block in self.tree.blocks(low, high) for rowid, payload in block if rowid in wanted
                }
            yield from chunk
            if self.pending:
                self.flush()
        self.prefetched = {}

    def flush(self) -> None:
        """Store the records that wait."""
        if self.pending:
            pending, self.pending = self.pending, {}
            rewrite_rows(self.tree, pending)

    def find_duplicate(self, position: int, values: tuple[Any, ...]) -> Any:
        """The key of the row that has the same unique key in index ``position``, or None (NULLs are never equal)."""
        entry = self.entries[position]
        prefix = values[: entry.key_count]
        if None in prefix:
            return None
        payload = self.trees[position].contains_prefix(prefix)
        if payload is None:
            return None
        fields = decode(payload, self.codec.encoding)
        if not self.key_positions:
            return fields[-1]
        places = {column.column: place for place, column in reversed(tuple(enumerate(entry.index.columns)))}
        return tuple([fields[places[column]] for column in self.key_positions])

    # --- changing ------------------------------------------------------------------------------------------------------------------

    def store(self, image: Image | list[Any], values: list[tuple[Any, ...] | None]) -> None:
        """Insert a row and its index entries (``values`` by index)."""
        codec = self.codec
        for position, entry in enumerate(self.entries):
            fields = values[position]
            if fields is not None and not entry.index.is_table_tree:
                self.trees[position].insert(entry.payload(fields), fields)
        if self.key_positions:
            self.tree.insert(codec.record(image), codec.field_values(image))
        else:
            self.tree.insert(image[-1], codec.record(image))

    def remove(self, image: Image) -> None:
        """Delete a row and its index entries."""
        for position, entry in enumerate(self.entries):
            if entry.index.is_table_tree:
                continue
            fields = entry.values(image)
            if fields is not None and not self.trees[position].delete(fields):
                raise errors.corrupt()
        self.tree.delete(self.key(image))

    def replace(self, old: Image, new: Image, values: list[tuple[Any, ...] | None], touched: tuple[bool, ...]) -> None:
        """Turn a stored row into another one, changing only the trees whose content changes (of the ``touched`` ones)."""
        key_is_same = same(self.key(old), self.key(new))
        for position, entry in enumerate(self.entries):
            if not touched[position] or entry.index.is_table_tree:
                continue
            before = entry.values(old)
            after = values[position]
            if before is not None and after is not None and same(before, after):
                continue
            if before is not None and not self.trees[position].delete(before):
                raise errors.corrupt()
            if after is not None:
                self.trees[position].insert(entry.payload(after), after)
        if not key_is_same:
            self.tree.delete(self.key(old))
        if self.key_positions:
            self.tree.insert(self.codec.record(new), self.codec.field_values(new))
        elif self.pending is not None:
            self.pending[new[-1]] = self.codec.record(new)
        else:
            self.tree.insert(new[-1], self.codec.record(new))


def same(left: Any, right: Any) -> bool:
    """Identical stored values: equal, and of the same storage classes (1 and 1.0 differ on disk)."""
    if left != right:
        return False
    if type(left) is tuple:
        return all(type(a) is type(b) for a, b in zip(left, right, strict=True))
    return type(left) is type(right)
