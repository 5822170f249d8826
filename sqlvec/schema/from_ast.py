"""From CREATE statements to schema objects: what a table is, once its declaration has been read.

``table_from_ast`` raises every error that concerns the declaration itself (duplicate columns, keys, AUTOINCREMENT, STRICT types, generated columns,
foreign-key column lists); whether names inside CHECK, DEFAULT and index expressions exist is the binder's business.  The same functions serve CREATE
and the loading of a stored schema, so a stored declaration that would not be accepted shows as a malformed schema.

Invariants
1. Constraints act in the order of the text, column constraints before table constraints: automatic indexes get their numbers in this order.
2. An automatic index equal to an earlier one (same columns and collations) is not made; it only hands its conflict clause on.
3. ``Table.fields`` says where a column is in the stored record: in declaration order without VIRTUAL columns, or, WITHOUT ROWID, in the order of the
   table tree (key columns first).
4. ``Table.indexes`` is kept in planner list order by :func:`enter_index` alone.

Follows "CREATE TABLE", "CREATE INDEX", "WITHOUT ROWID", "STRICT Tables", "Generated Columns" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.parse import ast
from sqlvec.schema.objects import (
    EXPRESSION,
    ROWID,
    Check,
    Column,
    ForeignKey,
    Index,
    IndexColumn,
    Table,
    Trigger,
    column_width,
    index_row_size,
    set_default_estimates,
    table_row_size,
)
from sqlvec.values.affinity import BLOB, affinity_of_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_STRICT_TYPES = {"ANY": "ANY", "BLOB": "BLOB", "INT": "INT", "INTEGER": "INTEGER", "REAL": "REAL", "TEXT": "TEXT"}
COLUMN_LIMIT = 2000


def ascii_lower(text: str) -> str:
    """Fold A-Z only, as SQLite compares names."""
    return text.lower() if text.isascii() else "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in text)


# --- tables --------------------------------------------------------------------------------------------------------------------------


class _TableBuilder:
    """The state of one CREATE TABLE while its constraints are read in order."""

    def __init__(self, name: str, database: int) -> None:
        self.name = name
        self.database = database
        self.columns: list[Column] = []
        self.numbers: dict[str, int] = {}
        self.keys: list[tuple[str, list[tuple[int, str | None, bool]], str | None, str]] = []   # kind, columns, conflict, origin
        self.primary_key: tuple[int, ...] = ()
        self.has_primary_key = False
        self.rowid_column = ROWID
        self.key_conflict: str | None = None
        self.key_descending = False
        self.autoincrement = False
        self.checks: list[Check] = []
        self.foreign_keys: list[tuple[ast.ForeignKey, tuple[int, ...], bool]] = []

    def column(self, number: int) -> str:
        return self.columns[number].name

    # -- columns

    def add_column(self, definition: ast.ColumnDef) -> None:
        name = definition.name.text
        key = ascii_lower(name)
        if len(self.columns) >= COLUMN_LIMIT:
            raise errors.too_many_columns_on(self.name)
        if key in self.numbers:
            raise errors.duplicate_column(name)
        number = self.numbers[key] = len(self.columns)
        declared = _declared_type(definition)
        column = Column(name, declared, affinity_of_type(declared), "BINARY")
        column.size_estimate = column_width(declared, column.affinity)
        self.columns.append(column)
        for constraint in definition.constraints:
            self._column_constraint(column, number, constraint)

    def _column_constraint(self, column: Column, number: int, constraint: Any) -> None:
        kind = type(constraint).__name__
        if kind == "NotNull":
            column.not_null = constraint.on_conflict or "ABORT"
        elif kind == "PrimaryKey":
            self.add_primary_key([(number, None, constraint.desc)], constraint, is_table_form=False)
        elif kind == "Unique":
            self.keys.append(("u", [(number, None, False)], constraint.on_conflict, column.name))
        elif kind == "Check":
            self.checks.append(Check(constraint.name.text if constraint.name else None, constraint.expr, constraint.text))
        elif kind == "Default":
            self._default(column, constraint)
        elif kind == "ColumnCollate":
            column.collation = constraint.collation.text
        elif kind == "ForeignKey":
            if len(constraint.parent_columns) > 1:
                error = errors.foreign_key_one_column(column.name, constraint.parent.text)
                error.offset = constraint.parent.span[0]
                raise error
            self.foreign_keys.append((constraint, (number,), True))
        elif kind == "Generated":
            self._generated(column, constraint)

    def _default(self, column: Column, constraint: ast.Default) -> None:
        if not is_constant_expression(constraint.expr):
            raise errors.default_not_constant(column.name)
        if column.generated is not None:
            raise errors.default_on_generated()
        column.default = constraint.expr
        column.default_text = constraint.text

    def _generated(self, column: Column, constraint: ast.Generated) -> None:
        if column.default is not None or column.generated is not None or constraint.storage not in (None, "VIRTUAL", "STORED"):
            raise errors.error_in_generated_column(column.name)
        if column.key_position:
            raise errors.generated_in_primary_key()
        column.generated = constraint.expr
        column.is_stored = constraint.storage == "STORED"

    # -- keys

    def add_primary_key(self, columns: list[tuple[int, str | None, bool]], constraint: ast.PrimaryKey, is_table_form: bool) -> None:
        if self.has_primary_key:
            raise errors.more_than_one_primary_key(self.name)
        self.has_primary_key = True
        for position, (number, _, _) in enumerate(columns):
            column = self.columns[number]
            if column.generated is not None:
                raise errors.generated_in_primary_key()
            if not column.key_position:
                column.key_position = position + 1
        self.primary_key = tuple(number for number, _, _ in columns)
        first = self.columns[columns[0][0]]
        descending = columns[0][2]
        if len(columns) == 1 and ascii_lower(first.declared_type) == "integer" and (is_table_form or not descending):
            self.rowid_column = columns[0][0]
            self.key_conflict = constraint.on_conflict
            self.autoincrement = constraint.autoincrement
            self.key_descending = descending
        elif constraint.autoincrement:
            raise errors.autoincrement_needs_integer_key()
        else:
            self.keys.append(("pk", columns, constraint.on_conflict, ""))

    def table_constraint(self, constraint: Any) -> None:
        kind = type(constraint).__name__
        if kind == "PrimaryKey":
            self.add_primary_key(self._key_columns(constraint.columns), constraint, is_table_form=True)
        elif kind == "Unique":
            self.keys.append(("u", self._key_columns(constraint.columns), constraint.on_conflict, ""))
        elif kind == "Check":
            self.checks.append(Check(constraint.name.text if constraint.name else None, constraint.expr, constraint.text))
        elif kind == "ForeignKey":
            numbers = []
            for name in constraint.columns:
                number = self.numbers.get(ascii_lower(name.text))
                if number is None:
                    raise errors.unknown_foreign_key_column(name.text)
                numbers.append(number)
            if constraint.parent_columns and len(constraint.parent_columns) != len(numbers):
                raise errors.foreign_key_column_count()
            self.foreign_keys.append((constraint, tuple(numbers), False))

    def _key_columns(self, terms: list[ast.OrderTerm]) -> list[tuple[int, str | None, bool]]:
        found = []
        for term in terms:
            if term.nulls is not None:
                raise errors.unsupported_nulls(term.nulls)
        for term in terms:
            expression, collation = strip_collate(term.expr)
            name = plain_name(expression)
            if name is None:
                raise errors.expressions_prohibited_in_keys()
            number = self.numbers.get(ascii_lower(name.text))
            if number is None and name.quoted == '"':           # a string then
                raise errors.expressions_prohibited_in_keys()
            if number is None:
                raise errors.no_such_column(name.text, name.span[0])
            found.append((number, collation, term.desc))
        return found


def table_from_ast(statement: ast.CreateTable, database: int, root: int = 0, sql: str | None = None,
                   autoindex_root: Callable[[str], int] | None = None) -> Table:
    """The table that CREATE TABLE (not ... AS SELECT) declares.  ``autoindex_root(name)`` gives the root page of an automatic index; without it roots
    are 0 and the caller sets ``index.root`` of each index of ``table.indexes`` that isn't the table tree."""
    builder = _TableBuilder(statement.name.text, database)
    for definition in statement.columns:
        builder.add_column(definition)
    for constraint in statement.constraints:
        builder.table_constraint(constraint)
    strict = "strict" in statement.options
    without_rowid = "without rowid" in statement.options
    if strict:
        _check_strict(builder)
    if without_rowid:
        if builder.autoincrement:
            raise errors.autoincrement_without_rowid()
        if not builder.has_primary_key:
            raise errors.primary_key_missing(builder.name)
    if all(column.generated is not None for column in builder.columns):
        raise errors.no_ordinary_column()
    return _finish_table(builder, database, root, sql, strict, without_rowid, autoindex_root)


def _finish_table(builder: _TableBuilder, database: int, root: int, sql: str | None, strict: bool, without_rowid: bool,
                  autoindex_root: Callable[[str], int] | None) -> Table:
    table = Table(builder.name, database, tuple(builder.columns), root)
    table.by_name = builder.numbers
    table.sql = sql
    table.strict = strict
    table.without_rowid = without_rowid
    table.primary_key = builder.primary_key
    table.checks = tuple(builder.checks)
    table.autoincrement = builder.autoincrement
    if without_rowid:
        if builder.rowid_column >= 0:
            builder.keys.append(("pk", [(builder.rowid_column, None, builder.key_descending)], builder.key_conflict, ""))
        for number in builder.primary_key:
            column = table.columns[number]
            column.not_null = column.not_null or "ABORT"
    else:
        table.rowid_column = builder.rowid_column
        table.key_conflict = builder.key_conflict
        if strict:
            for number in builder.primary_key:
                column = table.columns[number]
                if number != table.rowid_column:
                    column.not_null = column.not_null or "ABORT"
    table.row_size = table_row_size(table.columns, table.rowid_column >= 0)
    table.fields = _stored_positions(table.columns)
    _add_automatic_indexes(table, builder, autoindex_root)
    table.foreign_keys = _foreign_keys(table, builder)
    return table


def _stored_positions(columns: tuple[Column, ...]) -> tuple[int, ...]:
    fields, position = [], 0
    for column in columns:
        if column.generated is not None and not column.is_stored:
            fields.append(-1)
        else:
            fields.append(position)
            position += 1
    return tuple(fields)


def _declared_type(definition: ast.ColumnDef) -> str:
    """The type's text; the words GENERATED ALWAYS before AS belong to the constraint even where the parser saw them as a type."""
    declared = definition.type_name
    lowered = ascii_lower(declared)
    if lowered.endswith("generated always") and any(type(constraint).__name__ == "Generated" for constraint in definition.constraints):
        declared = declared[: -len("generated always")].rstrip()
    if declared[:1] in ('"', "'", "`", "["):
        declared = _unquoted_type(declared)
    return _STRICT_TYPES.get(declared.upper(), declared)


def _unquoted_type(text: str) -> str:
    """A type that begins with a quote is the quoted text alone; what follows it is lost.  Brackets that are not closed at the very end lose their first
    and last character."""
    if text[0] == "[":
        return text[1 : text.index("]")] if text.endswith("]") else text[1:-1]
    quote = text[0]
    found, position = "", 1
    while position < len(text):
        if text[position] == quote:
            if text[position + 1 : position + 2] != quote:
                break
            position += 1
        found += text[position]
        position += 1
    return found


def _check_strict(builder: _TableBuilder) -> None:
    for column in builder.columns:
        if not column.declared_type:
            raise errors.missing_datatype(builder.name, column.name)
        if column.declared_type.upper() not in _STRICT_TYPES:
            raise errors.unknown_datatype(builder.name, column.name, column.declared_type)
        if column.declared_type == "ANY":
            column.affinity = BLOB


# --- automatic indexes -----------------------------------------------------------------------------------------------------------------


def _add_automatic_indexes(table: Table, builder: _TableBuilder, autoindex_root: Callable[[str], int] | None) -> None:
    made: list[tuple[Index, list[tuple[int, str]]]] = []
    for origin, columns, conflict, _ in builder.keys:
        resolved = [(number, collation or table.columns[number].collation) for number, collation, _ in columns]
        signature = [(number, ascii_lower(collation)) for number, collation in resolved]
        twin = next((index for index, other in made if other == signature), None)
        if twin is not None:
            if twin.conflict != conflict:
                if twin.conflict is not None and conflict is not None:
                    raise errors.conflicting_on_conflict()
                twin.conflict = twin.conflict or conflict
            if origin == "pk":
                twin.origin = "pk"
            continue
        name = f"sqlite_autoindex_{table.name}_{len(made) + 1}"
        fields = tuple(IndexColumn(number, table.columns[number].name, collation, descending)
                       for (number, collation), (_, _, descending) in zip(resolved, columns, strict=True))
        index = Index(name, table, fields, len(fields), True, origin, 0)
        index.conflict = conflict
        if conflict is not None and len(fields) == 1:
            table.columns[fields[0].column].unique_conflict = conflict
        made.append((index, signature))
    if table.without_rowid:
        _make_table_tree(table, next(index for index, _ in made if index.origin == "pk"))
    for index, _ in made:
        if not index.is_table_tree:
            # SQLite stores the key fields that it appends to indexes of constraints ascending, whatever the PRIMARY KEY says.
            appended = [IndexColumn(field.column, field.name, field.collation) for field in trailing_columns(table, index.columns)]
            index.columns = index.columns + tuple(appended)
            index.root = autoindex_root(index.name) if autoindex_root is not None else 0
        enter_index(table, index)


def _make_table_tree(table: Table, index: Index) -> None:
    """Turn the PRIMARY KEY index into the tree that holds the rows: repeated key columns go, all other stored columns follow."""
    key: list[IndexColumn] = []
    for field in index.columns:
        if not any(field.column == other.column and ascii_lower(field.collation) == ascii_lower(other.collation) for other in key):
            key.append(field)
    present = {field.column for field in key}
    rest = [IndexColumn(number, column.name, column.collation) for number, column in enumerate(table.columns)
            if number not in present and not (column.generated is not None and not column.is_stored)]
    index.columns = tuple(key + rest)
    index.key_count = len(key)
    index.is_table_tree = True
    index.root = table.root
    table.key_index = index
    fields = [-1] * len(table.columns)
    for position, field in enumerate(index.columns):
        if fields[field.column] < 0:
            fields[field.column] = position
    table.fields = tuple(fields)


def trailing_columns(table: Table, key: tuple[IndexColumn, ...]) -> tuple[IndexColumn, ...]:
    """The fields after an index's own key that make its records unique: the rowid, or what is missing of a WITHOUT ROWID table's PRIMARY KEY."""
    if not table.without_rowid:
        return (IndexColumn(ROWID, "rowid"),)
    assert table.key_index is not None
    found: list[IndexColumn] = []
    for field in table.key_index.columns[: table.key_index.key_count]:
        if not any(field.column == other.column and ascii_lower(field.collation) == ascii_lower(other.collation) for other in (*key, *found)):
            found.append(IndexColumn(field.column, field.name, field.collation, field.descending))
    return tuple(found)


def enter_index(table: Table, index: Index) -> None:
    """Put a new index into the table's list: at the head, unless it REPLACEs on conflict: those stay last, in order of arrival."""
    if index.conflict == "REPLACE":
        table.indexes.append(index)
    else:
        table.indexes.insert(0, index)
    index.row_size = index_row_size(index)
    set_default_estimates(table, index)


def _foreign_keys(table: Table, builder: _TableBuilder) -> tuple[ForeignKey, ...]:
    found = []
    total = len(builder.foreign_keys)
    for position, (node, numbers, _) in enumerate(builder.foreign_keys):
        key = ForeignKey(table, numbers, node.parent.text, tuple(name.text for name in node.parent_columns))
        key.on_delete = node.on_delete or "NO ACTION"
        key.on_update = node.on_update or "NO ACTION"
        key.deferred = node.deferred
        key.number = total - 1 - position
        found.append(key)
    return tuple(reversed(found))


# --- indexes, views, triggers, virtual tables ------------------------------------------------------------------------------------------------


def index_from_ast(statement: ast.CreateIndex, table: Table, root: int = 0, sql: str | None = None) -> Index:
    """The index that CREATE INDEX declares; the caller enters it into ``table.indexes`` (``enter_index``)."""
    fields = []
    for term in statement.columns:
        if term.nulls is not None:
            raise errors.unsupported_nulls(term.nulls)
    for term in statement.columns:
        expression, collation = strip_collate(term.expr)
        name = plain_name(expression)
        number = table.by_name.get(ascii_lower(name.text)) if name is not None else None
        if number is None:
            if name is not None and name.quoted != '"':
                raise errors.no_such_column(name.text, name.span[0])
            fields.append(IndexColumn(EXPRESSION, "", collation or "BINARY", term.desc, expression))
        else:
            column = table.columns[number]
            fields.append(IndexColumn(number, column.name, collation or column.collation, term.desc))
    index = Index(statement.name.text, table, tuple(fields), len(fields), statement.unique, "c", root)
    index.columns = index.columns + trailing_columns(table, index.columns)
    index.where = statement.where
    index.sql = sql
    return index


def view_from_ast(statement: ast.CreateView, database: int, sql: str | None = None) -> Table:
    """A view: a Table of kind 'view' whose columns the binder finds when it expands ``select``."""
    view = Table(statement.name.text, database, (), 0, "view")
    view.select = statement.select
    view.view_columns = tuple(name.text for name in statement.columns or ())
    view.sql = sql
    view.row_size = 0
    return view


def virtual_table_from_ast(statement: ast.CreateVirtualTable, database: int, sql: str | None = None) -> Table:
    """A virtual table; its columns become known when its module is connected (``with_module_columns``)."""
    table = Table(statement.name.text, database, (), 0, "virtual")
    table.module = statement.module.text
    table.module_arguments = tuple(statement.arguments)
    table.sql = sql
    return table


def with_module_columns(table: Table, columns: tuple[tuple[str, str, bool], ...], without_rowid: bool = False) -> Table:
    """Set the columns that a module declared: (name, declared type, hidden) each.  Works in place: a connected table stays connected."""
    found = []
    for name, declared, hidden in columns:
        column = Column(name, declared, affinity_of_type(declared), "BINARY")
        column.hidden = hidden
        column.size_estimate = column_width(declared, column.affinity)
        found.append(column)
    table.columns = tuple(found)
    table.fields = tuple(range(len(found)))
    table.by_name = {ascii_lower(column.name): number for number, column in reversed(tuple(enumerate(found)))}
    table.without_rowid = without_rowid
    return table


def trigger_from_ast(statement: ast.CreateTrigger, database: int, sql: str | None = None) -> Trigger:
    """A trigger of the catalog ``database`` (where the trigger lives: temp triggers may watch tables of other files)."""
    columns = tuple(name.text for name in statement.columns or ())
    return Trigger(statement.name.text, statement.table.text, database, statement.time or "BEFORE", statement.event, columns, statement, sql or "")


# --- pieces of expressions ---------------------------------------------------------------------------------------------------------------


def strip_collate(expression: ast.Node) -> tuple[ast.Node, str | None]:
    """Take COLLATE wrappers off; the outermost one counts."""
    collation = None
    while isinstance(expression, ast.Collate):
        collation = collation or expression.collation.text
        expression = expression.operand
    return expression, collation


def plain_name(expression: ast.Node) -> ast.Name | None:
    """The name, if the expression is a lone identifier or a string literal used as one."""
    if isinstance(expression, ast.ColumnRef) and expression.table is None:
        return expression.column
    if isinstance(expression, ast.Literal) and expression.kind == "string":
        return ast.Name(expression.value, expression.span, "'")
    return None


def children_in_order(node: ast.Node) -> list[ast.Node]:
    """Direct child nodes in the order of the text."""
    found: list[ast.Node] = []
    for field in type(node).__slots__:
        _collect(getattr(node, field, None), found)
    found.sort(key=lambda child: child.span[0])
    return found


def _collect(value: object, found: list[ast.Node]) -> None:
    if isinstance(value, ast.Node):
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _collect(item, found)


def check_column(definition: ast.ColumnDef, table: Table) -> None:
    """Raise what is wrong with the declaration of a column that is to be added to ``table``."""
    _TableBuilder(table.name, table.database).add_column(definition)


def is_constant_expression(expression: ast.Node) -> bool:
    """May this be a DEFAULT: literals, functions, operators, but no column, parameter or sub-query."""
    stack: list[Any] = [expression]
    while stack:
        node = stack.pop()
        kind = type(node).__name__
        if kind == "ColumnRef":
            if node.table is not None or node.column.quoted or ascii_lower(node.column.text) not in ("true", "false"):
                return False
        elif kind in ("Parameter", "ScalarSelect", "Exists", "InSelect", "InTable", "Select") or (kind == "FunctionCall" and node.over is not None):
            return False
        elif kind != "Name":
            stack.extend(children_in_order(node))
    return True
