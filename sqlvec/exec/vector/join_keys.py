"""What a search path says when it is read as a join: key columns, the expressions they equal, further conditions, order.

``inner_keys(path)`` describes how the rows that a search finds can be found by reading the whole inner tree instead:

* ``path``: the full scan to read;
* ``numbers`` and ``terms``: inner column i equals the expression of term i, under ``collations[i]``;
* ``conditions``: range bounds of the search as comparisons;
* ``order`` and ``order_terms``: columns (with direction and collation) that order the rows of one key, before the rowid.
"""
from __future__ import annotations

from sqlvec.exec.vector.decline import Restart
from sqlvec.exec.vector.scan import is_full_scan
from sqlvec.expr import bound
from sqlvec.plan import physical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.schema.objects import Index, Table


class InnerKeys:
    """See the module text.  ``can_probe``: the row engine could run the level alone."""

    __slots__ = ("can_probe", "collations", "conditions", "numbers", "order", "order_terms", "path", "terms")

    def __init__(self, path: Any) -> None:
        self.path = path
        self.numbers: list[int] = []
        self.terms: list[Any] = []
        self.collations: list[str] = []
        self.conditions: list[Any] = []
        self.order: list[int] = []
        self.order_terms: list[tuple[bool, str]] = []
        self.can_probe = True

    @property
    def is_simple(self) -> bool:
        """Plain equalities under BINARY only."""
        return all(term.kind == "=" for term in self.terms) and all(name.upper() == "BINARY" for name in self.collations)

    @property
    def expressions(self) -> list[Any]:
        return [term.expression for term in self.terms]


def inner_keys(path: Any) -> InnerKeys:
    """The join keys of a path, or Restart where it can't be read that way."""
    if is_full_scan(path) or isinstance(path, physical.QueryScan):
        return InnerKeys(path)
    if isinstance(path, physical.RowidSearch):
        return _of_rowid(path)
    if isinstance(path, physical.IndexSearch):
        return _of_index(path)
    if isinstance(path, physical.AutomaticIndex):
        return _of_automatic(path)
    raise Restart


def _scan_of(path: Any) -> physical.Path:
    scan = physical.TableScan(path.source, path.label, path.table)
    scan.used = path.used
    return scan


def _of_rowid(path: physical.RowidSearch) -> InnerKeys:
    if path.descending:
        raise Restart
    keys = InnerKeys(_scan_of(path))
    rowid = bound.Column(path.source, -1, "rowid", "D", "BINARY")
    if path.key is not None:
        if path.key.kind != "=":
            raise Restart
        keys.numbers.append(-1)
        keys.terms.append(physical.KeyTerm("=", path.key.expression, "C"))
        keys.collations.append("BINARY")
    _add_bounds(keys, rowid, path.lower, path.upper, "BINARY")
    return keys


def _add_bounds(keys: InnerKeys, column: Any, lower: Any, upper: Any, using: str) -> None:
    for bound_, inclusive, strict in ((lower, ">=", ">"), (upper, "<=", "<")):
        if bound_ is None:
            continue
        if len(bound_.expressions) != 1:
            raise Restart
        operator = inclusive if bound_.inclusive else strict
        keys.conditions.append(bound.Compare(operator, column, bound_.expressions[0], bound_.applied[0], using))


def _of_index(path: physical.IndexSearch) -> InnerKeys:
    index: Index = path.index
    table: Table = path.table
    if path.descending or path.null_scan is not None:
        raise Restart
    if table.without_rowid:
        scan: Any = physical.IndexSearch(path.source, path.label, table, table.key_index, covering=True)  # type: ignore[arg-type]
        scan.used = path.used
    else:
        scan = _scan_of(path)
    keys = InnerKeys(scan)
    for place, term in enumerate(path.keys):
        field = index.columns[place]
        if term.kind not in ("=", "IS") or field.column < -1:
            raise Restart
        keys.numbers.append(field.column)
        keys.terms.append(term)
        keys.collations.append(field.collation)
    rest = index.columns[len(path.keys):]
    if path.lower is not None or path.upper is not None:
        field = rest[0]
        if field.column < 0 or field.descending:
            raise Restart
        column = table.columns[field.column]
        _add_bounds(keys, bound.Column(path.source, field.column, column.name, column.affinity, field.collation), path.lower, path.upper,
                    field.collation)
    if index.where is not None:
        raise Restart
    for field in rest:
        if field.column == -1 or field.column == table.rowid_column:
            break
        if field.column < -1:
            raise Restart
        keys.order.append(field.column)
        keys.order_terms.append((field.descending, field.collation))
    return keys


def _of_automatic(path: physical.AutomaticIndex) -> InnerKeys:
    if not (is_full_scan(path.input) or isinstance(path.input, physical.QueryScan)):
        raise Restart
    keys = InnerKeys(path.input)
    keys.can_probe = False
    if path.condition is not None:
        keys.conditions.append(path.condition)
    for number, term, using in zip(path.key_columns, path.keys, path.using, strict=True):
        if term.kind not in ("=", "IS"):
            raise Restart
        keys.numbers.append(number)
        keys.terms.append(term)
        keys.collations.append(using)
    keys.order = list(path.order_columns)
    keys.order_terms = [(False, "BINARY")] * len(keys.order)
    return keys
