"""The nodes of schema statements, transactions, PRAGMA and the other commands.  Import them through ``sqlvec.parse.ast``.

The text that goes into sqlite_schema is made from spans: ``name_start`` is where the object's name token begins (after
``schema.``), ``text_end`` where the text ends (facts: CREATE TABLE to the last token, views and triggers without the ``;``).
Defaults, CHECKs and generated columns keep spans, so that their source can be cut out of the stored text.

Follows the manual's pages on CREATE, DROP, ALTER, ATTACH, PRAGMA, REINDEX, VACUUM, ANALYZE, transactions and savepoints.
"""
from __future__ import annotations

from sqlvec.parse.ast import Name, Node, OrderTerm, Span, Statement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.parse.ast import Select


# --- column and table constraints ----------------------------------------------------------------------------------------------------


class NotNull(Node):
    __slots__ = ("name", "on_conflict")

    def __init__(self, name: Name | None, on_conflict: str | None, span: Span) -> None:
        self.name = name
        self.on_conflict = on_conflict
        self.span = span


class Nullable(Node):
    """A bare ``NULL [ON CONFLICT ...]`` column constraint, which means nothing."""

    __slots__ = ("name",)

    def __init__(self, name: Name | None, span: Span) -> None:
        self.name = name
        self.span = span


class PrimaryKey(Node):
    """Column form: ``columns`` None, ``desc`` as written.  Table form: ``columns`` is a list of OrderTerm."""

    __slots__ = ("autoincrement", "columns", "desc", "name", "on_conflict")

    def __init__(
        self, name: Name | None, columns: list[OrderTerm] | None, desc: bool, autoincrement: bool, on_conflict: str | None, span: Span
    ) -> None:
        self.name = name
        self.columns = columns
        self.desc = desc
        self.autoincrement = autoincrement
        self.on_conflict = on_conflict
        self.span = span


class Unique(Node):
    """Column form: ``columns`` None.  Table form: a list of OrderTerm."""

    __slots__ = ("columns", "name", "on_conflict")

    def __init__(self, name: Name | None, columns: list[OrderTerm] | None, on_conflict: str | None, span: Span) -> None:
        self.name = name
        self.columns = columns
        self.on_conflict = on_conflict
        self.span = span


class Check(Node):
    """``text`` is the source between the parentheses, trimmed: the constraint's name in errors when ``name`` is None."""

    __slots__ = ("expr", "name", "text")

    def __init__(self, name: Name | None, expr: Node, text: str, span: Span) -> None:
        self.name = name
        self.expr = expr
        self.text = text
        self.span = span


class Default(Node):
    """``text`` is what PRAGMA table_info shows; ``parenthesised`` tells the form.  A bare identifier is a 'string' Literal in ``expr``."""

    __slots__ = ("expr", "name", "parenthesised", "text")

    def __init__(self, name: Name | None, expr: Node, text: str, parenthesised: bool, span: Span) -> None:
        self.name = name
        self.expr = expr
        self.text = text
        self.parenthesised = parenthesised
        self.span = span


class ColumnCollate(Node):
    __slots__ = ("collation", "name")

    def __init__(self, name: Name | None, collation: Name, span: Span) -> None:
        self.name = name
        self.collation = collation
        self.span = span


class ForeignKey(Node):
    """``columns`` None in the column form.  ``parent_columns`` empty if not written.

    Actions: None, 'SET NULL' 'SET DEFAULT' 'CASCADE' 'RESTRICT' 'NO ACTION'.
    ``deferred`` is True for DEFERRABLE INITIALLY DEFERRED only.
    """

    __slots__ = ("columns", "deferred", "name", "on_delete", "on_update", "parent", "parent_columns")

    def __init__(
        self,
        name: Name | None,
        columns: list[Name] | None,
        parent: Name,
        parent_columns: list[Name],
        on_delete: str | None,
        on_update: str | None,
        deferred: bool,
        span: Span,
    ) -> None:
        self.name = name
        self.columns = columns
        self.parent = parent
        self.parent_columns = parent_columns
        self.on_delete = on_delete
        self.on_update = on_update
        self.deferred = deferred
        self.span = span


class Generated(Node):
    """``[GENERATED ALWAYS] AS (expr) [VIRTUAL | STORED]``; ``storage``: None or the word, upper case; ``text``: source of expr."""

    __slots__ = ("expr", "name", "storage", "text")

    def __init__(self, name: Name | None, expr: Node, storage: str | None, text: str, span: Span) -> None:
        self.name = name
        self.expr = expr
        self.storage = storage
        self.text = text
        self.span = span


class ColumnDef(Node):
    """``type_name`` is the type's source text, '' when missing.  ``span`` runs from the name to the end of the last constraint."""

    __slots__ = ("constraints", "name", "type_name")

    def __init__(self, name: Name, type_name: str, constraints: list[Node], span: Span) -> None:
        self.name = name
        self.type_name = type_name
        self.constraints = constraints
        self.span = span


# --- CREATE --------------------------------------------------------------------------------------------------------------------------


class CreateTable(Statement):
    """``options`` are lower-case words: 'without rowid', 'strict'.  ``as_select`` excludes columns.

    ``body_end`` is the offset of the closing parenthesis of the column list (where ADD COLUMN text may go before constraints:
    see the spans of ``columns``).
    """

    __slots__ = (
        "as_select", "body_end", "columns", "constraints", "if_not_exists", "name", "name_start", "options", "schema", "temp", "text_end",
    )

    def __init__(
        self,
        temp: bool,
        if_not_exists: bool,
        schema: Name | None,
        name: Name,
        columns: list[ColumnDef],
        constraints: list[Node],
        options: list[str],
        as_select: Select | None,
        name_start: int,
        body_end: int,
        text_end: int,
        span: Span,
    ) -> None:
        self.temp = temp
        self.if_not_exists = if_not_exists
        self.schema = schema
        self.name = name
        self.columns = columns
        self.constraints = constraints
        self.options = options
        self.as_select = as_select
        self.name_start = name_start
        self.body_end = body_end
        self.text_end = text_end
        self.span = span


class CreateIndex(Statement):
    """``table`` is the indexed table's name; ``columns`` are OrderTerm (an expression may be wrapped in Collate)."""

    __slots__ = ("columns", "if_not_exists", "name", "name_start", "schema", "table", "text_end", "unique", "where")

    def __init__(
        self,
        unique: bool,
        if_not_exists: bool,
        schema: Name | None,
        name: Name,
        table: Name,
        columns: list[OrderTerm],
        where: Node | None,
        name_start: int,
        text_end: int,
        span: Span,
    ) -> None:
        self.unique = unique
        self.if_not_exists = if_not_exists
        self.schema = schema
        self.name = name
        self.table = table
        self.columns = columns
        self.where = where
        self.name_start = name_start
        self.text_end = text_end
        self.span = span


class CreateView(Statement):
    __slots__ = ("columns", "if_not_exists", "name", "name_start", "schema", "select", "temp", "text_end")

    def __init__(
        self,
        temp: bool,
        if_not_exists: bool,
        schema: Name | None,
        name: Name,
        columns: list[Name] | None,
        select: Select,
        name_start: int,
        text_end: int,
        span: Span,
    ) -> None:
        self.temp = temp
        self.if_not_exists = if_not_exists
        self.schema = schema
        self.name = name
        self.columns = columns
        self.select = select
        self.name_start = name_start
        self.text_end = text_end
        self.span = span


class CreateTrigger(Statement):
    """``time``: None (BEFORE meant), 'BEFORE' 'AFTER' 'INSTEAD OF'; ``event``: 'INSERT' 'UPDATE' 'DELETE'; ``columns`` of UPDATE OF.

    ``body`` holds Insert, Update, Delete and Select nodes.  ``schema``/``name`` name the trigger, ``table_schema``/``table`` its table.
    """

    __slots__ = (
        "body", "columns", "event", "if_not_exists", "name", "name_start", "schema", "table", "table_schema", "temp", "text_end", "time",
        "when",
    )  # fmt: skip

    def __init__(
        self,
        temp: bool,
        if_not_exists: bool,
        schema: Name | None,
        name: Name,
        time: str | None,
        event: str,
        columns: list[Name] | None,
        table_schema: Name | None,
        table: Name,
        when: Node | None,
        body: list[Statement],
        name_start: int,
        text_end: int,
        span: Span,
    ) -> None:
        self.temp = temp
        self.if_not_exists = if_not_exists
        self.schema = schema
        self.name = name
        self.time = time
        self.event = event
        self.columns = columns
        self.table_schema = table_schema
        self.table = table
        self.when = when
        self.body = body
        self.name_start = name_start
        self.text_end = text_end
        self.span = span


class CreateVirtualTable(Statement):
    """``arguments`` are the raw source texts between the commas, trimmed; empty list for ``USING m`` and for ``USING m()``."""

    __slots__ = ("arguments", "if_not_exists", "module", "name", "name_start", "schema", "text_end")

    def __init__(
        self,
        if_not_exists: bool,
        schema: Name | None,
        name: Name,
        module: Name,
        arguments: list[str],
        name_start: int,
        text_end: int,
        span: Span,
    ) -> None:
        self.if_not_exists = if_not_exists
        self.schema = schema
        self.name = name
        self.module = module
        self.arguments = arguments
        self.name_start = name_start
        self.text_end = text_end
        self.span = span


# --- DROP and ALTER --------------------------------------------------------------------------------------------------------------------


class Drop(Statement):
    """``kind``: 'table' 'index' 'view' 'trigger'."""

    __slots__ = ("if_exists", "kind", "name", "schema")

    def __init__(self, kind: str, if_exists: bool, schema: Name | None, name: Name, span: Span) -> None:
        self.kind = kind
        self.if_exists = if_exists
        self.schema = schema
        self.name = name
        self.span = span


class AlterRenameTable(Statement):
    __slots__ = ("name", "new_name", "schema")

    def __init__(self, schema: Name | None, name: Name, new_name: Name, span: Span) -> None:
        self.schema = schema
        self.name = name
        self.new_name = new_name
        self.span = span


class AlterRenameColumn(Statement):
    __slots__ = ("column", "name", "new_name", "schema")

    def __init__(self, schema: Name | None, name: Name, column: Name, new_name: Name, span: Span) -> None:
        self.schema = schema
        self.name = name
        self.column = column
        self.new_name = new_name
        self.span = span


class AlterAddColumn(Statement):
    """``text`` is the trimmed source of the column definition."""

    __slots__ = ("column", "name", "schema", "text")

    def __init__(self, schema: Name | None, name: Name, column: ColumnDef, text: str, span: Span) -> None:
        self.schema = schema
        self.name = name
        self.column = column
        self.text = text
        self.span = span


class AlterDropColumn(Statement):
    __slots__ = ("column", "name", "schema")

    def __init__(self, schema: Name | None, name: Name, column: Name, span: Span) -> None:
        self.schema = schema
        self.name = name
        self.column = column
        self.span = span


# --- maintenance, transactions, PRAGMA ---------------------------------------------------------------------------------------------------


class Reindex(Statement):
    """``name`` None for a bare REINDEX; it may name a collation, a table or an index."""

    __slots__ = ("name", "schema")

    def __init__(self, schema: Name | None, name: Name | None, span: Span) -> None:
        self.schema = schema
        self.name = name
        self.span = span


class Analyze(Statement):
    """``name`` None for a bare ANALYZE; alone it may name a schema, a table or an index."""

    __slots__ = ("name", "schema")

    def __init__(self, schema: Name | None, name: Name | None, span: Span) -> None:
        self.schema = schema
        self.name = name
        self.span = span


class Vacuum(Statement):
    __slots__ = ("into", "schema")

    def __init__(self, schema: Name | None, into: Node | None, span: Span) -> None:
        self.schema = schema
        self.into = into
        self.span = span


class Attach(Statement):
    """``file``, ``schema`` and ``key`` are expressions (a bare identifier stands for its text)."""

    __slots__ = ("file", "key", "schema")

    def __init__(self, file: Node, schema: Node, key: Node | None, span: Span) -> None:
        self.file = file
        self.schema = schema
        self.key = key
        self.span = span


class Detach(Statement):
    __slots__ = ("schema",)

    def __init__(self, schema: Node, span: Span) -> None:
        self.schema = schema
        self.span = span


class Pragma(Statement):
    """``form``: '' (no value), '=' or '('.  ``value`` is the text: quotes removed, with a leading '-' for a negative number; None without.

    ``value_quoted`` tells whether the value was a quoted name or string.
    """

    __slots__ = ("form", "name", "schema", "value", "value_quoted")

    def __init__(self, schema: Name | None, name: Name, value: str | None, form: str, value_quoted: bool, span: Span) -> None:
        self.schema = schema
        self.name = name
        self.value = value
        self.form = form
        self.value_quoted = value_quoted
        self.span = span


class Begin(Statement):
    """``mode``: 'DEFERRED' 'IMMEDIATE' 'EXCLUSIVE'."""

    __slots__ = ("mode",)

    def __init__(self, mode: str, span: Span) -> None:
        self.mode = mode
        self.span = span


class Commit(Statement):
    __slots__ = ()

    def __init__(self, span: Span) -> None:
        self.span = span


class Rollback(Statement):
    """``savepoint``: the Name of ROLLBACK TO, or None."""

    __slots__ = ("savepoint",)

    def __init__(self, savepoint: Name | None, span: Span) -> None:
        self.savepoint = savepoint
        self.span = span


class Savepoint(Statement):
    __slots__ = ("name",)

    def __init__(self, name: Name, span: Span) -> None:
        self.name = name
        self.span = span


class Release(Statement):
    __slots__ = ("name",)

    def __init__(self, name: Name, span: Span) -> None:
        self.name = name
        self.span = span


class Explain(Statement):
    __slots__ = ("query_plan", "statement")

    def __init__(self, query_plan: bool, statement: Statement, span: Span) -> None:
        self.query_plan = query_plan
        self.statement = statement
        self.span = span
