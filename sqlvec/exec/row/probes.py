"""Repeated searches of one tree: from tree descents to a table in memory.

A search descends a tree in some tens of microseconds; a scan delivers an entry in less than one.  So a join or a sub-query that probes a tree often
is better served by a dictionary of the whole tree.  Readers count their searches and build the dictionary when the searches made so far have
cost about as much as building it will: at worst twice the best choice.  Order is unchanged: a dictionary holds the entries of a key in the order of the tree.

Readers live in the activation, one per tree and kind of search; a change of the tree (``write_count``) drops what they hold.
"""
from __future__ import annotations

from sqlvec.exec.row.cursors import IndexCursor, fetch_by_key, rowid_of
from sqlvec.values.compare import hash_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.exec.program import Activation
    from sqlvec.pages.btree import IndexTree, TableTree
    from sqlvec.schema.objects import Index, Table
    from sqlvec.values.compare import Collation

FIRST_LOOK = 32
ROWS_PER_LOOKUP = 20
"""Rows scanned in the time of one search by rowid."""
ENTRIES_PER_PROBE = 60
"""Entries scanned in the time of one search of an index."""


class Reader:
    """What both readers have: the searches made since the tree was changed, and whether a dictionary would pay by now."""

    __slots__ = ("_size", "count", "limit", "misses", "tree")
    SCANNED = 1                             # entries scanned in the time of one search

    def __init__(self, tree: Any, limit: int) -> None:
        self.tree = tree
        self.limit = limit                  # bytes that may be held
        self._forget()

    def _forget(self) -> None:
        """Start anew with the tree as it is now."""
        self.count = self.tree.write_count
        self.misses = 0
        self._size: tuple[int, int] | None = None

    def _is_worthwhile(self) -> bool:
        if self._size is None:
            self._size = self.tree.physical_size()
        leaves, entries = self._size
        return self.misses * self.SCANNED >= entries and leaves * self.tree.pager.page_size <= self.limit  # type: ignore[no-any-return]


class TableReader(Reader):
    """Searches by rowid.  A leaf that two searches in a row have hit is decoded as a whole: rows that were stored together are often read together."""

    __slots__ = ("_first", "_last", "_leaf", "_rows", "rows")
    SCANNED = ROWS_PER_LOOKUP
    tree: TableTree

    def _forget(self) -> None:
        super()._forget()
        self.rows: dict[int, bytes] | None = None
        self._leaf = 0                      # the leaf of the last search,
        self._rows: dict[int, bytes] = {}   # its rows and their rowids once it is decoded
        self._first = 0
        self._last = -1

    def get(self, rowid: int) -> bytes | None:
        """The record of a row, or None."""
        if self.count != self.tree.write_count:
            self._forget()
        if self.rows is not None:
            return self.rows.get(rowid)
        if self._first <= rowid <= self._last:
            return self._rows.get(rowid)
        self.misses += 1
        if self.misses % FIRST_LOOK == 0 and self._is_worthwhile():
            self.rows = {}
            for block in self.tree.blocks():
                self.rows.update(block)
            return self.rows.get(rowid)
        leaf = self.tree.find_leaf(rowid)
        if leaf != self._leaf:
            self._leaf = leaf
            return self.tree.get_in_leaf(leaf, rowid)
        rows = self.tree.leaf_rows(leaf)
        if not rows:
            return self.tree.get_in_leaf(leaf, rowid)
        self._rows = dict(rows)
        self._first, self._last = rows[0][0], rows[-1][0]
        return self._rows.get(rowid)

    def lookup(self, value: Any) -> tuple[Any, ...]:
        """The row whose rowid equals ``value``: none or one (rowid, record)."""
        rowid = value if type(value) is int else rowid_of(value)
        if rowid is None:
            return ()
        payload = self.get(rowid)
        return () if payload is None else ((rowid, payload),)

    def lookup_or_null(self, value: Any) -> tuple[Any, ...]:
        """The same, followed by the null row of an outer join."""
        return (*self.lookup(value), (None, None))


class IndexReader(Reader):
    """Searches of an index for entries that begin with ``width`` values, none of them NULL."""

    __slots__ = ("collations", "descending", "entries", "interrupt", "width")
    SCANNED = ENTRIES_PER_PROBE
    tree: IndexTree

    def __init__(self, tree: IndexTree, width: int, collations: tuple[Collation | None, ...], descending: bool, interrupt: list[bool],
                 limit: int) -> None:
        super().__init__(tree, limit)
        self.width = width
        self.collations = collations if any(collation is not None for collation in collations) else None
        self.descending = descending
        self.interrupt = interrupt

    def _forget(self) -> None:
        super()._forget()
        self.entries: dict[Any, list[bytes]] | None = None

    def open(self, key: tuple[Any, ...], with_null: bool = False) -> IndexCursor:
        """A cursor over the entries of a key."""
        if self.count != self.tree.write_count:
            self._forget()
        if None in key:
            return IndexCursor(self.tree, (), self.descending, self.interrupt, with_null)
        if self.entries is None:
            self.misses += 1
            if self.misses % FIRST_LOOK == 0 and self._is_worthwhile():
                self._build()
            else:
                return IndexCursor(self.tree, (((key, False), (key, True)),), self.descending, self.interrupt, with_null)
        return self._cached(key, with_null)

    def _cached(self, key: tuple[Any, ...], with_null: bool) -> IndexCursor:
        cursor = IndexCursor(self.tree, (), self.descending, self.interrupt, with_null)
        found = self.entries.get(self._hash(key))  # type: ignore[union-attr]
        if found is not None:
            cursor.blocks = iter((found,))
            cursor.upper = (key, not self.descending)
        return cursor

    def _hash(self, key: tuple[Any, ...]) -> tuple[Any, ...]:
        if self.collations is None:
            return key
        return tuple([hash_key(value, collation) for value, collation in zip(key, self.collations, strict=True)])

    def _build(self) -> None:
        table: dict[Any, list[bytes]] = {}
        project = self.tree.layout.prefix_projector(self.width)
        plain = self.collations is None
        for block in self.tree.blocks(None, None, self.descending):
            for entry in block:
                key = project(entry)
                if not plain:
                    key = self._hash(key)
                found = table.get(key)
                if found is None:
                    table[key] = [entry]
                else:
                    found.append(entry)
        self.entries = table


class KeyReader:
    """Searches of a WITHOUT ROWID table by its whole key."""

    __slots__ = ("reader",)

    def __init__(self, reader: IndexReader) -> None:
        self.reader = reader

    def get(self, key: tuple[Any, ...]) -> bytes:
        """The record of a key that an index entry holds."""
        reader = self.reader
        if reader.entries is not None or reader.misses % FIRST_LOOK == FIRST_LOOK - 1:
            for block in reader.open(key):
                return block[0]  # type: ignore[no-any-return]
        reader.misses += 1
        return fetch_by_key(reader.tree, key)


# --- what generated code binds ---------------------------------------------------------------------------------------------------------------


def table_reader(activation: Activation, table: Table) -> TableReader:
    """The reader of a rowid table in this activation."""
    key = ("rows", table.database, table.root)
    reader = activation.slots.get(key)
    if reader is None:
        context = activation.context
        reader = activation.slots[key] = TableReader(context.table_tree(table), context.settings.memory_budget // 4)
    return reader  # type: ignore[no-any-return]


def index_reader(activation: Activation, index: Index, width: int, descending: bool) -> IndexReader:
    """The reader of an index for keys of ``width`` fields."""
    key = ("entries", index.table.database, index.root, width, descending)
    reader = activation.slots.get(key)
    if reader is None:
        context = activation.context
        collations = []
        for column in index.columns[:width]:
            collation = context.collations.lookup(column.collation)
            collations.append(None if collation is None or collation.is_binary else collation)
        reader = activation.slots[key] = IndexReader(context.index_tree(index), width, tuple(collations), descending, context.interrupt,
                                                     context.settings.memory_budget // 4)
    return reader  # type: ignore[no-any-return]


def key_reader(activation: Activation, table: Table) -> KeyReader:
    """The reader of a WITHOUT ROWID table by whole keys."""
    index = table.key_index
    assert index is not None
    return KeyReader(index_reader(activation, index, index.key_count, False))
