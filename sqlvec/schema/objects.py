"""What exists in a database file: tables, columns, indexes, views, triggers, as immutable-by-convention objects.

A :class:`Catalog` (schema/catalog.py) owns these objects for one database file.  They keep *names* of collations, never
functions, and *parsed* expressions (``parse.ast``), never bound ones: binding happens per statement.

Column numbers
    A column of a table is known by its position in ``Table.columns`` everywhere above the pages layer; ``ROWID`` (-1) is the
    rowid.  ``Table.fields[i]`` is the position of column ``i`` in the stored record, or -1 where it is not stored (a VIRTUAL
    generated column).  The INTEGER PRIMARY KEY column is stored as NULL and read from the rowid.

Index columns
    ``Index.columns`` lists *every field of the index record*: the declared key columns first (``key_count`` of them), then the
    trailing ones that make the record unique (the rowid as column -1, or the missing PRIMARY KEY columns of a WITHOUT ROWID table).
    The PRIMARY KEY index of a WITHOUT ROWID table is the table's own tree (``is_table_tree``): its ``columns`` are all stored
    columns in record order, ``key_count`` of them the key.

List order
    ``Table.indexes`` is in planner list order: newest first, except that indexes whose own conflict clause is REPLACE stay last.
    This order breaks ties between equal costs and is the order of uniqueness checks.

Follows "CREATE TABLE", "CREATE INDEX", "The Schema Table" of the manual.

Sizes that the planner reads from the schema: column widths, row widths, and default row counts per index prefix.

All are LogEst numbers (10*log2, rounded) except a column's width, which counts units of four bytes.  They come from declarations alone; statistics
of ANALYZE replace them (schema/statistics.py).

Follows "The Next-Generation Query Planner" of the manual; the formulas were measured.
"""
from __future__ import annotations

from sqlvec.values.affinity import BLOB, NUMERIC, TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.parse import ast


ROWID = -1
EXPRESSION = -2


class Column:
    """One column: ``affinity`` (values.storage constant), ``collation`` name, ``not_null`` = None or the conflict action
    ('ABORT' by default), ``default`` AST or None, ``generated`` AST or None with ``is_stored``; ``key_position`` 1-based place in the PRIMARY KEY or 0;
    ``hidden`` for virtual-table columns."""

    __slots__ = ("affinity", "collation", "declared_type", "default", "default_text", "generated", "hidden", "is_stored",
                 "key_position", "name", "not_null", "size_estimate", "unique_conflict")

    def __init__(self, name: str, declared_type: str = "", affinity: str = "A", collation: str = "BINARY") -> None:
        self.name = name
        self.declared_type = declared_type
        self.affinity = affinity
        self.collation = collation
        self.not_null: str | None = None
        self.default: ast.Node | None = None
        self.default_text: str | None = None
        self.generated: ast.Node | None = None
        self.is_stored = True
        self.key_position = 0
        self.hidden = False
        self.size_estimate = 1
        self.unique_conflict: str | None = None


class IndexColumn:
    """One field of an index record: ``column`` number (or ROWID, or EXPRESSION with ``expression`` AST), collation name, direction."""

    __slots__ = ("collation", "column", "descending", "expression", "name")

    def __init__(self, column: int, name: str, collation: str = "BINARY", descending: bool = False, expression: ast.Node | None = None) -> None:
        self.column = column
        self.name = name
        self.collation = collation
        self.descending = descending
        self.expression = expression


class Index:
    """An index tree.  ``origin`` is 'c' (CREATE INDEX), 'u' (UNIQUE) or 'pk'; ``conflict`` its own ON CONFLICT action or None;
    ``where`` the AST of a partial index; ``row_estimates`` the planner's LogEst list ([0] rows, [k] rows per distinct k-prefix)."""

    __slots__ = ("columns", "conflict", "has_statistics", "is_table_tree", "is_unordered", "key_count", "name", "no_skip_scan", "origin",
                 "root", "row_estimates", "row_size", "sql", "table", "unique", "where")

    def __init__(self, name: str, table: Table, columns: tuple[IndexColumn, ...], key_count: int, unique: bool, origin: str, root: int) -> None:
        self.name = name
        self.table = table
        self.columns = columns
        self.key_count = key_count
        self.unique = unique
        self.origin = origin
        self.root = root
        self.conflict: str | None = None
        self.where: ast.Node | None = None
        self.sql: str | None = None
        self.is_table_tree = False
        self.row_estimates: list[int] = []
        self.row_size = 0
        self.has_statistics = False
        self.is_unordered = False
        self.no_skip_scan = False


class ForeignKey:
    """A REFERENCES clause: child column numbers, parent table name, parent column names (empty = the parent's PRIMARY KEY), actions."""

    __slots__ = ("columns", "deferred", "number", "on_delete", "on_update", "parent", "parent_columns", "table")

    def __init__(self, table: Table, columns: tuple[int, ...], parent: str, parent_columns: tuple[str, ...]) -> None:
        self.table = table
        self.columns = columns
        self.parent = parent
        self.parent_columns = parent_columns
        self.on_delete = "NO ACTION"
        self.on_update = "NO ACTION"
        self.deferred = False
        self.number = 0


class Check:
    """A CHECK constraint: ``name`` or None, ``expression`` AST and its source ``text`` (for the message)."""

    __slots__ = ("expression", "name", "text")

    def __init__(self, name: str | None, expression: ast.Node, text: str) -> None:
        self.name = name
        self.expression = expression
        self.text = text


class Trigger:
    """``timing`` 'BEFORE' | 'AFTER' | 'INSTEAD OF'; ``event`` 'INSERT' | 'UPDATE' | 'DELETE'; ``statement`` the CreateTrigger AST."""

    __slots__ = ("columns", "database", "event", "name", "sql", "statement", "table_name", "timing")

    def __init__(self, name: str, table_name: str, database: int, timing: str, event: str, columns: tuple[str, ...],
                 statement: ast.Node, sql: str) -> None:
        self.name = name
        self.table_name = table_name
        self.database = database
        self.timing = timing
        self.event = event
        self.columns = columns
        self.statement = statement
        self.sql = sql


class Table:
    """A table, view (``select`` is its AST) or virtual table (``module`` and ``module_arguments``); ``database`` is the index of its
    file in the CatalogSet (0 main, 1 temp, 2.. attached)."""

    __slots__ = ("autoincrement", "by_name", "checks", "columns", "database", "fields", "foreign_keys", "has_statistics", "indexes", "key_conflict",
                 "key_index", "kind", "module", "module_arguments", "name", "primary_key", "root", "row_estimate", "row_size", "rowid_column",
                 "select", "sql", "strict", "triggers", "view_columns", "without_rowid")

    def __init__(self, name: str, database: int, columns: tuple[Column, ...], root: int = 0, kind: str = "table") -> None:
        self.name = name
        self.database = database
        self.columns = columns
        self.root = root
        self.kind = kind                        # 'table' | 'view' | 'virtual'
        self.rowid_column = ROWID               # number of the INTEGER PRIMARY KEY column, or -1
        self.primary_key: tuple[int, ...] = ()
        self.key_conflict: str | None = None    # ON CONFLICT of the INTEGER PRIMARY KEY
        self.key_index: Index | None = None     # the table tree of a WITHOUT ROWID table
        self.without_rowid = False
        self.strict = False
        self.autoincrement = False
        self.indexes: list[Index] = []
        self.checks: tuple[Check, ...] = ()
        self.foreign_keys: tuple[ForeignKey, ...] = ()
        self.triggers: list[Trigger] = []       # newest first
        self.fields: tuple[int, ...] = tuple(range(len(columns)))
        self.sql: str | None = None
        self.select: ast.Node | None = None
        self.view_columns: tuple[str, ...] = ()
        self.module: str | None = None
        self.module_arguments: tuple[str, ...] = ()
        self.row_estimate = 200                 # LogEst of the row count
        self.row_size = 0                       # LogEst of the row width
        self.has_statistics = False
        self.by_name: dict[str, int] = {column.name.lower(): number for number, column in reversed(tuple(enumerate(columns)))}


_FRACTION = (0, 2, 3, 5, 6, 7, 8, 9)
_PREFIX_DEFAULTS = (33, 32, 30, 28, 26)


def log_estimate(number: int) -> int:
    """LogEst of an integer >= 0."""
    if number < 2:
        return 0
    power = number.bit_length() - 1
    mantissa = (number >> (power - 3)) if power >= 3 else (number << (3 - power))
    return 10 * power + _FRACTION[mantissa - 8]


def column_width(declared_type: str, affinity: str) -> int:
    """Expected width of a column in units of 4 bytes: from the number in ``VARCHAR(n)`` or ``BLOB(n)``, else by affinity."""
    if not declared_type or affinity >= NUMERIC:
        return 1
    lowered = declared_type.lower()
    at = lowered.find("char")
    if affinity == BLOB:
        at = lowered.find("blob(")
    elif affinity == TEXT and at < 0:
        return 5
    if at < 0:
        return 5
    digits = ""
    for character in lowered[at:]:
        if character.isdigit():
            digits += character
        elif digits:
            break
    return min((int(digits) // 4 if digits else 0) + 1, 255)


def table_row_size(columns: tuple[Column, ...], has_rowid_column: bool) -> int:
    """LogEst of the width of a table row."""
    return log_estimate(4 * (sum(column.size_estimate for column in columns) + (0 if has_rowid_column else 1)))


def index_row_size(index: Index) -> int:
    """LogEst of the width of an index entry; rowid and expression fields count 1."""
    columns = index.table.columns
    return log_estimate(4 * sum(columns[field.column].size_estimate if field.column >= 0 else 1 for field in index.columns))


def set_default_estimates(table: Table, index: Index) -> None:
    """Fill ``index.row_estimates`` as for an index never analysed."""
    table.row_estimate = max(table.row_estimate, 99)
    rows = table.row_estimate - (10 if index.where is not None else 0)
    estimates = [rows]
    for position in range(index.key_count):
        estimates.append(_PREFIX_DEFAULTS[position] if position < 5 else 23)
    if index.unique:
        estimates[index.key_count] = 0
    index.row_estimates = estimates
