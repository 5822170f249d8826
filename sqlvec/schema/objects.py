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
"""
from __future__ import annotations

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
