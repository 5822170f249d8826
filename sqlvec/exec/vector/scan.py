"""Sources of batches: access paths read as whole trees.

A *source* reads one path of a Join: a full scan of a table, of a covering index, or of a WITHOUT ROWID table.  It knows which stored field
serves which column, and hands out :class:`ColumnBatch` es whose columns are gathered when an expression asks for them.
"""
from __future__ import annotations

from functools import partial

from sqlvec.columnar.batch import ColumnBatch, Part, of_vectors
from sqlvec.columnar.kernels.compare import compare
from sqlvec.columnar.numeric import np
from sqlvec.columnar.ordering import SortKey, sort_order
from sqlvec.columnar.vector import ColumnVector, concatenate
from sqlvec.exec.row.schema_values import default_value
from sqlvec.exec.vector.decline import Restart
from sqlvec.pages.columns.batch_scan import MAX_PAGES, ROWID_WISH, FieldWish, RecordBatch, index_scan, table_scan
from sqlvec.plan import physical
from sqlvec.values.storage import REAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from sqlvec.exec.program import Activation
    from sqlvec.exec.vector.evaluate import Evaluator
    from sqlvec.schema.objects import Index, Table


class ScanPart(Part):
    """A record batch as a part of a :class:`ColumnBatch`: column keys to wishes."""

    __slots__ = ("records", "wish_of")

    def __init__(self, records: RecordBatch, wish_of: dict[Any, int]) -> None:
        self.records = records
        self.wish_of = wish_of

    def column(self, key: Any) -> Any:
        return self.records.column(self.wish_of[key])

    def steps(self, key: Any) -> list[tuple[Any, float]]:
        return self.records.steps(self.wish_of[key])

    def take(self, positions: Any) -> ScanPart:
        return ScanPart(self.records.take(positions), self.wish_of)


def default_of(table: Table, number: int, activation: Activation) -> Any:
    """What a record without the column has."""
    if table.columns[number].default is None:
        return None
    return default_value(activation.context, table, number)


class Source:
    """Rows of a whole tree for one path; ``wish_of`` maps (source, column) to the number of its wish."""

    __slots__ = ("index", "one_page", "pager", "root", "table", "wish_of", "wishes")

    def __init__(self, path: Any, activation: Activation, columns: Iterable[int] | None = None) -> None:
        self.table: Table = path.table
        index: Index | None = getattr(path, "index", None)
        self.index = index if index is not None and (index.is_table_tree or getattr(path, "covering", False)) else None
        if self.table.without_rowid and self.index is None:
            self.index = self.table.key_index
        self.one_page = activation.context.settings.engine == "one_page"
        self.wishes: list[FieldWish] = []
        self.wish_of: dict[tuple[int, int], int] = {}
        for number in path.used if columns is None else columns:
            self._wish(path.source, number, activation)
        if self.index is None:
            self.wish_of[path.source, -1] = ROWID_WISH        # costs nothing until it is asked for
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
        most = 1 if self.one_page else MAX_PAGES
        for records in scan(self.pager, self.root, self.wishes, min(first_pages, most), most):
            if records.count:
                part = ScanPart(records, self.wish_of)
                yield ColumnBatch(records.count, dict.fromkeys(self.wish_of, part))


def select_all(batches: Iterator[ColumnBatch], conditions: Iterable[Any], evaluator: Evaluator, activation: Activation) -> Iterator[ColumnBatch]:
    """The rows of a scan that pass the conditions; plain conditions go in the order that the first batch suggests."""
    interrupt = activation.context.interrupt
    ordered: list[Any] | None = None
    for batch in batches:
        if interrupt[0]:
            activation.context.check_interrupt()
        if ordered is None:
            ordered = evaluator.in_best_order(list(conditions), batch)
        yield evaluator.select(ordered, batch)


def is_index_order_scan(path: Any) -> bool:
    """Does the path deliver all rows of a rowid table in the order of an index that doesn't cover the query?"""
    return (isinstance(path, physical.IndexSearch) and not path.keys and path.lower is None and path.upper is None and not path.descending
            and path.null_scan is None and not path.covering and not path.index.is_table_tree and not path.table.without_rowid
            and path.index.where is None and all(column.column >= -1 for column in path.index.columns))


def table_scan_of(path: Any) -> physical.TableScan:
    """The scan of the table behind another path."""
    scan = physical.TableScan(path.source, path.label, path.table)
    scan.used = path.used
    return scan


def is_full_scan(path: Any) -> bool:
    """Does the path deliver all rows of one tree, forwards?"""
    if isinstance(path, physical.TableScan):
        return not path.descending
    if isinstance(path, physical.IndexSearch):
        return (not path.keys and path.lower is None and path.upper is None and not path.descending and path.null_scan is None
                and (path.covering or path.index.is_table_tree))
    return False


# --- index order -----------------------------------------------------------------------------------------------------------------------


class OutOfOrder(Exception):
    """The table isn't stored in the order of the index that its rows must be delivered in; run again and sort."""

    def __init__(self, key: Any) -> None:
        super().__init__()
        self.key = key


class IndexOrder:
    """Puts the rows of a table scan into the order of an index.

    Tables are often stored in that order already (an index on a growing key): then batches pass through, each compared with its
    neighbours.  If one isn't, :class:`OutOfOrder` ends the run, and in the next one all rows (those that passed the conditions) are held and
    sorted: ``hold``."""

    def __init__(self, path: physical.IndexSearch, hold: bool) -> None:
        self.hold = hold
        self.key = id(path)
        self.names: list[Any] = []
        self.terms: list[tuple[bool, str]] = []
        for column in path.index.columns:
            if column.column == -1 or column.column == path.table.rowid_column:
                break                              # then the rowid decides, which is the order of reading
            self.names.append((path.source, column.column))
            self.terms.append((column.descending, column.collation))
        self._last: list[ColumnVector] = []
        self._blocks: list[dict[Any, ColumnVector]] = []
        self._count = 0

    def rows(self, batches: Iterator[ColumnBatch], keep: Iterable[Any]) -> Iterator[ColumnBatch]:
        if not self.hold:
            for batch in batches:
                if batch.count:
                    self._check(batch)
                    yield batch
            return
        names = list({*keep, *self.names})
        for batch in batches:
            if batch.count:
                self._blocks.append({name: batch.column(name).detached() for name in names})
                self._count += batch.count
        if not self._count:
            return
        vectors = {name: concatenate([block[name] for block in self._blocks]) for name in names}
        self._blocks = []
        keys = [SortKey(vectors[name], descending, None, collation)
                for name, (descending, collation) in zip(self.names, self.terms, strict=True)]
        order = sort_order(keys, self._count)
        whole = of_vectors(self._count, vectors)
        for start in range(0, self._count, HELD_ROWS):
            yield whole.take(order[start:start + HELD_ROWS])

    def _check(self, batch: ColumnBatch) -> None:
        """Is every row of the batch behind the one before it?"""
        vectors = [batch.column(name).flat() for name in self.names]
        if self._last:
            vectors = [concatenate([last, vector]) for last, vector in zip(self._last, vectors, strict=True)]
        count = vectors[0].count
        open_rows = np.arange(count - 1, dtype=np.int64)
        for vector, (descending, collation) in zip(vectors, self.terms, strict=True):
            if vector.null_mask() is not None:
                raise OutOfOrder(self.key)
            before, after = vector.take(open_rows), vector.take(open_rows + 1)
            wrong, _ = compare("<" if descending else ">", before, after, collation)
            if wrong.any():
                raise OutOfOrder(self.key)
            same, _ = compare("=", before, after, collation)
            open_rows = open_rows[same]
            if not len(open_rows):
                break
        self._last = [vector.slice(vector.count - 1, vector.count).detached() for vector in vectors]


HELD_ROWS = 16_384
