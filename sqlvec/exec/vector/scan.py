"""Sources of batches: access paths read as whole trees.

A *source* reads one path of a Join: a full scan of a table, of a covering index, or of a WITHOUT ROWID table.  It knows which stored field
serves which column, and hands out :class:`ColumnBatch` es whose columns are gathered when an expression asks for them.
"""
from __future__ import annotations

from functools import partial

from sqlvec.columnar.batch import ColumnBatch
from sqlvec.exec.vector.decline import Restart
from sqlvec.pages.columns.batch_scan import ROWID_WISH, FieldWish, RecordBatch, index_scan, table_scan
from sqlvec.plan import physical
from sqlvec.values.storage import REAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from sqlvec.exec.activation import Activation
    from sqlvec.schema.objects import Index, Table


class ScanPart:
    """A record batch as a part of a :class:`ColumnBatch`: column keys to wishes."""

    __slots__ = ("records", "wish_of")

    def __init__(self, records: RecordBatch, wish_of: dict[Any, int]) -> None:
        self.records = records
        self.wish_of = wish_of

    def column(self, key: Any) -> Any:
        return self.records.column(self.wish_of[key])

    def take(self, positions: Any) -> ScanPart:
        return ScanPart(self.records.take(positions), self.wish_of)


def default_of(table: Table, number: int, activation: Activation) -> Any:
    """What a record without the column has."""
    if table.columns[number].default is None:
        return None
    raise Restart


class Source:
    """Rows of a whole tree for one path; ``wish_of`` maps (source, column) to the number of its wish."""

    __slots__ = ("index", "pager", "root", "table", "wish_of", "wishes")

    def __init__(self, path: Any, activation: Activation, columns: Iterable[int] | None = None) -> None:
        self.table: Table = path.table
        index: Index | None = getattr(path, "index", None)
        self.index = index if index is not None and (index.is_table_tree or getattr(path, "covering", False)) else None
        if self.table.without_rowid and self.index is None:
            self.index = self.table.key_index
        self.wishes: list[FieldWish] = []
        self.wish_of: dict[tuple[int, int], int] = {}
        for number in path.used if columns is None else columns:
            self._wish(path.source, number, activation)
        tree = activation.table_tree(self.table) if self.index is None else activation.index_tree(self.index)
        self.pager = tree.pager
        self.root = tree.root

    def _wish(self, source: int, number: int, activation: Activation) -> None:
        table = self.table
        is_rowid = number < 0 or number == table.rowid_column
        if self.index is None:
            if is_rowid:
                self.wish_of[source, number] = ROWID_WISH
                return
            field = table.fields[number]
        else:
            wanted = (-1, table.rowid_column) if is_rowid else (number,)
            field = next((place for place, column in enumerate(self.index.columns) if column.column in wanted), -1)
        if field < 0:
            raise Restart
        is_real = not is_rowid and table.columns[number].affinity == REAL
        default = None if is_rowid or self.index is not None else partial(default_of, table, number, activation)
        self.wish_of[source, number] = len(self.wishes)
        self.wishes.append(FieldWish(field, is_real, default))

    def batches(self, first_pages: int = 8) -> Iterator[ColumnBatch]:
        """All rows in key order; ordinals are not filled in."""
        scan = table_scan if self.index is None else index_scan
        for records in scan(self.pager, self.root, self.wishes, first_pages):
            if records.count:
                part = ScanPart(records, self.wish_of)
                yield ColumnBatch(records.count, dict.fromkeys(self.wish_of, part))


def is_full_scan(path: Any) -> bool:
    """Does the path deliver all rows of one tree, forwards?"""
    if isinstance(path, physical.TableScan):
        return not path.descending
    if isinstance(path, physical.IndexSearch):
        return (not path.keys and path.lower is None and path.upper is None and not path.descending and path.null_scan is None
                and (path.covering or path.index.is_table_tree))
    return False
