"""Names: what is visible where, and what a name means.

A :class:`Scope` is one SELECT core (or one place of a declaration: a CHECK, a trigger program ...).  It holds *sources*, the rows whose columns can be
named: FROM items, NEW and OLD, ``excluded``.  Scopes nest: a sub-query sees its own sources first and then those of the queries around it.  Everything that
one statement shares (functions, catalogs, counters, CTEs in sight) is its :class:`Binding`.

How to bind an expression outside a query (CHECK, DEFAULT, generated column, index expression, trigger WHEN, RETURNING ...)::

    binding = Binding(context)                       # context: plan.planner.PlanContext
    scope = Scope(binding)                           # or Scope(binding, restriction="CHECK constraints")
    scope.add_table(table, source_number)            # columns of ``table`` become Column(source_number, n)
    scope.add_table(table, old_source, name="old")   # a second row, reachable by its name only: qualified_only=True
    expression = bind_expression(node, scope)        # plan/expressions.py

A reference to an INTEGER PRIMARY KEY column is bound as column number -1, the rowid.

Resolution of a lone name in a scope, in this order: columns of the sources (USING columns once), the rowid if exactly one source has one, result aliases
(where the clause allows them); then the enclosing scope.  What is found nowhere is a string if written in double quotes, TRUE or FALSE, or an error.

Follows "SELECT" (simple select processing), "Double-quoted String Literals", "Rowid Tables" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.expr.bound import Call, Column, Expression, Literal
from sqlvec.parse import ast
from sqlvec.plan.logical import BoundStatement
from sqlvec.resolve import resolve
from sqlvec.schema.catalog import fold
from sqlvec.values.affinity import INTEGER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.expr.bound import AggregateCall, WindowCall
    from sqlvec.plan.logical import FromItem, Query
    from sqlvec.plan.planner import PlanContext
    from sqlvec.schema.objects import Table

ROWID_NAMES = ("rowid", "oid", "_rowid_")


class Binding:
    """What all scopes of one statement share.  ``statement`` counts sources, slots and SELECTs; ``numbers`` are SELECT numbers by core (EXPLAIN only);
    ``subqueries`` collects every Subquery; ``schema`` restricts unqualified tables inside a view or trigger; ``is_derived`` says that the AST does not
    come from the statement's own text, so that errors have no offset."""

    def __init__(self, context: PlanContext) -> None:
        self.context = context
        self.statement = BoundStatement()
        self.subqueries: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.ctes: Any = None                   # innermost plan.cte.CteFrame in sight
        self.schema: str | None = None
        self.is_derived = False
        self.views: list[Table] = []            # views being expanded
        self.databases: set[int] = set()
        self.in_trigger = False
        self.trigger_name: str | None = None
        self.readers: list[str] = []            # names of the views and CTEs being expanded, for the authorizer
        self.shared: dict[Any, Any] = {}        # CTE bodies bound already
        self.written: dict[int, ast.FunctionCall] = {}       # aggregates as written, by id of the bound call

    def offset(self, node: ast.Node) -> int | None:
        """Where an error at ``node`` is reported."""
        return None if self.is_derived else node.span[0]

    def operand_offset(self, node: ast.Node) -> int | None:
        """Where an error about the value of ``node`` is reported: at its left-most operand, behind signs; a row value has no place."""
        while type(node) in (ast.Unary, ast.Binary, ast.Collate):
            node = node.left if type(node) is ast.Binary else node.operand  # type: ignore[attr-defined]
        return None if type(node) in (ast.RowValue, ast.ScalarSelect) else self.offset(node)

    def number(self, core: Any) -> int:
        """The SELECT number of a core."""
        found = self.numbers.get(id(core))
        return found if found is not None else self.statement.new_number()

    def need_collation(self, name: str) -> str:
        """Check that a collation that is going to be used exists."""
        exists = self.context.collation_exists
        if name != "BINARY" and exists is not None and not exists(name):
            raise errors.no_such_collation(name)
        return name

    def authorize(self, action: int, first: str | None, second: str | None, database: int | None) -> int:
        """Ask the authorizer; 0 allowed, 2 ignored, 1 denied (raised by the caller, who knows the text)."""
        ask = self.context.authorize
        if ask is None:
            return 0
        schema = self.context.catalogs.names[database] if database is not None else None
        return ask(action, first, second, schema, self.readers[-1] if self.readers else self.trigger_name)


class Source:
    """One row that names can refer to.  ``key`` and ``schema`` are its folded name and database; columns come from ``table``, or are listed by the
    query form (``names``, ``results``).  ``using`` are folded names of USING columns shared with sources to the left; ``origins`` (nested joins) give
    (schema, table, column) keys per column."""

    __slots__ = ("hides", "is_asked", "is_excluded", "item", "join", "key", "keys", "names", "nullable", "origins", "qualified_only", "results",
                 "schema", "source", "table", "using")

    def __init__(self, source: int, key: str, schema: str | None, table: Table | None, item: FromItem | None) -> None:
        self.source = source
        self.key = key
        self.schema = schema
        self.table = table
        self.item = item
        self.is_asked = item is not None        # is an authorizer asked about its columns?
        self.names: tuple[str, ...] = ()
        self.keys: dict[str, int] | None = None
        self.results: tuple[Expression, ...] = ()
        self.using: frozenset[str] = frozenset()
        self.join = 0
        self.nullable = False
        self.qualified_only = False
        self.is_excluded = False
        self.origins: tuple[tuple[str | None, str, str], ...] | None = None
        self.hides: frozenset[int] = frozenset()        # nested join: columns that USING merged into earlier ones

    def set_query(self, query: Query, names: tuple[str, ...]) -> None:
        """Take the columns from a bound query."""
        self.names = names
        self.results = query.results()
        self.keys = {}
        for number, name in enumerate(names):
            self.keys.setdefault(fold(name), number)

    def column_count(self) -> int:
        return len(self.table.columns) if self.table is not None else len(self.names)

    def column_name(self, number: int) -> str:
        return self.table.columns[number].name if self.table is not None else self.names[number]

    def find(self, key: str) -> int | None:
        """The number of the column with the folded name ``key``."""
        if self.table is not None:
            return self.table.by_name.get(key)
        assert self.keys is not None
        return self.keys.get(key)

    def has_rowid(self) -> bool:
        if self.table is None:
            return self.origins is None         # a nested join has none
        return not self.table.without_rowid and self.table.kind != "view"

    def column(self, number: int) -> Column:
        """The bound column; the INTEGER PRIMARY KEY becomes the rowid."""
        table = self.table
        if self.item is not None:
            self.item.used.add(number if table is None or number != table.rowid_column else -1)
        if table is None:
            if number < 0:
                return Column(self.source, -1, "rowid", INTEGER)  # type: ignore[arg-type]
            result = self.results[number]
            return Column(self.source, number, self.names[number], result.affinity, result.collation or "BINARY")
        if number < 0 or number == table.rowid_column:
            name = table.columns[table.rowid_column].name if table.rowid_column >= 0 else "rowid"
            return Column(self.source, -1, name, None if self.is_excluded else INTEGER, None, not self.nullable and table.kind == "table", table)  # type: ignore[arg-type]
        column = table.columns[number]
        if self.qualified_only:                 # NEW, OLD and excluded are values: without affinity, and of excluded also without collation
            return Column(self.source, number, column.name, None, None if self.is_excluded else column.collation, False, table)
        not_null = column.not_null is not None and not self.nullable and self.item is not None
        return Column(self.source, number, column.name, column.affinity, column.collation, not_null, table)


class Frame:
    """One nested query: collects the columns of enclosing queries that it reads."""

    __slots__ = ("is_from", "outer", "parent")

    def __init__(self, parent: Frame | None, is_from: bool = False) -> None:
        self.parent = parent
        self.is_from = is_from          # a sub-query of FROM
        self.outer: dict[tuple[int, int], Column] = {}


class Scope:
    """The names visible in one SELECT core.  ``parent`` is the enclosing scope, ``frame`` the nested query it belongs to.

    ``aliases``: (folded name, bound expression, alias) once the result list is bound and the clause may use them.  ``allow_aggregates``,
    ``allow_windows``: whether the clause being bound may contain them; ``clause`` names it.  ``restriction``: the declaration that limits expressions:
    'CHECK constraints', 'index expressions', 'partial index WHERE clauses', 'generated columns', or None."""

    def __init__(self, binding: Binding, parent: Scope | None = None, frame: Frame | None = None, restriction: str | None = None) -> None:
        self.binding = binding
        self.parent = parent
        self.frame = frame if frame is not None else (parent.frame if parent is not None else Frame(None))  # type: ignore[has-type]
        self.restriction = restriction if restriction is not None or parent is None else parent.restriction  # type: ignore[has-type]
        self.sources: list[Source] = []
        self.aliases: list[tuple[str, Expression, Any]] | None = None
        self.allow_aggregates = False
        self.allow_windows = False
        self.clause = ""
        self.in_aggregate = False
        self.aggregates: list[tuple[str, AggregateCall]] = []
        self.windows: list[WindowCall] = []
        self.window_definitions: dict[str, Any] = {}
        self.has_inner_aggregates = False
        self.is_grouped = False                                 # the core has GROUP BY
        self.in_window = False                                  # inside a call of a window function
        self.counts_stars = False                               # widths of row values count a star in a sub-query as one value
        self.misused: ast.FunctionCall | None = None            # an aggregate that other errors win over
        self.misused_under_windows: ast.FunctionCall | None = None      # the same, if the core has window functions

    def add_table(self, table: Table, source: int, name: str | None = None, qualified_only: bool = False) -> Source:
        """Make a row of ``table`` visible: by its name, or by ``name`` (new, old, excluded)."""
        schema = self.binding.context.catalogs.names[table.database] if table.database < len(self.binding.context.catalogs) else None
        added = Source(source, fold(name or table.name), fold(schema) if schema and name is None else None, table, None)
        added.qualified_only = qualified_only
        self.sources.append(added)
        return added

    def own_sources(self) -> set[int]:
        return {source.source for source in self.sources}


# --- resolving ---------------------------------------------------------------------------------------------------------------------------


def resolve_column(node: ast.ColumnRef, scope: Scope) -> Expression:
    """What a column reference means."""
    binding = scope.binding
    if scope.restriction is not None and node.table is not None and scope.restriction in ("index expressions", "generated columns"):
        raise errors.prohibited('the "." operator', scope.restriction, binding.offset(node))
    column_key = fold(node.column.text)
    at: Scope | None = scope
    while at is not None:
        found = _resolve_here(node, column_key, at, scope)
        if found is not None:
            return found
        at = at.parent
    return _unresolved(node, scope, binding)


def resolve_in_first(node: ast.ColumnRef, scope: Scope) -> Expression:
    """A column of the scope's first source, whatever the others are called."""
    source = scope.sources[0]
    number = source.find(fold(node.column.text))
    return _column(node, (source, -1 if number is None else number), scope, scope)


def _unresolved(node: ast.ColumnRef, scope: Scope, binding: Binding) -> Expression:
    name = node.column
    if node.table is None:
        if name.quoted == '"' and binding.context.settings.double_quoted_strings:
            if binding.context.on_resolve is not None:
                binding.context.on_resolve(name, None, None, "STRING")
            return Literal(name.text)
        if name.quoted == '"' and scope.restriction is not None and scope.binding.is_derived:
            return Literal(name.text)
        if not name.quoted:
            key = fold(name.text)
            if key == "true" or key == "false":
                return Literal(1 if key == "true" else 0)
    raise errors.no_such_column(written(node), binding.offset(node))


def written(node: ast.ColumnRef) -> str:
    """The reference as error texts show it."""
    return ".".join(part.text for part in (node.schema, node.table, node.column) if part is not None)


def _resolve_here(node: ast.ColumnRef, key: str, at: Scope, scope: Scope) -> Expression | None:
    """Resolve in one scope: None = go on outside."""
    table_key = fold(node.table.text) if node.table is not None else None
    schema_key = fold(node.schema.text) if node.schema is not None else None
    matches: list[tuple[Source, int]] = []
    merged: list[Expression] = []
    for source in at.sources:
        if table_key is None and source.qualified_only:
            continue
        for number in _numbers_in(source, key, table_key, schema_key):
            if matches and key in source.using:
                if source.join & 24 == 16:                       # RIGHT: the right operand's value is the merged one
                    matches = [(source, number)]
                    merged = []
                elif source.join & 24 == 24:                     # FULL: the first that is not NULL
                    merged.append(_column(node, matches[-1], scope, at))
                    matches = [(source, number)]
                continue
            matches.append((source, number))
    if len(matches) > 1:
        raise errors.ambiguous_column(written(node), scope.binding.offset(node))
    if matches:
        last = _column(node, matches[0], scope, at)
        if merged:
            function = scope.binding.context.functions.lookup("coalesce", len(merged) + 1)
            return Call(function, (*merged, last))
        return last
    if key in ROWID_NAMES and scope.restriction not in ("index expressions", "generated columns"):
        found = _rowid(node, at, table_key, schema_key, scope)
        if found is not None:
            return found
    if table_key is None and at.aliases is not None:
        return _alias(node, key, at, scope)
    return None


def _numbers_in(source: Source, key: str, table_key: str | None, schema_key: str | None) -> list[int]:
    """Columns of ``source`` that match."""
    if source.origins is not None:
        if table_key is None:
            return [n for n, origin in enumerate(source.origins) if origin[2] == key and n not in source.hides]
        if source.key != table_key:
            return [n for n, (schema, table, column) in enumerate(source.origins)
                    if column == key and table == table_key and (schema_key is None or schema == schema_key)]
    if table_key is not None and (source.key != table_key or (schema_key is not None and source.schema != schema_key
                                                              and (source.item is not None or source.table is None))):
        return []                       # a declaration's own table ignores the schema qualifier
    number = source.find(key)
    return [] if number is None else [number]


def _rowid(node: ast.ColumnRef, at: Scope, table_key: str | None, schema_key: str | None, scope: Scope) -> Expression | None:
    able = [source for source in at.sources
            if source.has_rowid() and not (table_key is None and source.qualified_only)
            and (table_key is None or (source.key == table_key and (schema_key is None or source.schema == schema_key)))]
    if len(able) != 1:
        return None
    source = able[0]
    if source.table is None:
        nothing = Literal(None)
        nothing.affinity = INTEGER  # type: ignore[assignment]
        return nothing
    return _column(node, (source, -1), scope, at)


def _column(node: ast.ColumnRef, match: tuple[Source, int], scope: Scope, at: Scope) -> Expression:
    """The bound column of a match, noted as an outer reference in every nested query between."""
    source, number = match
    column = source.column(number)
    binding = scope.binding
    context = binding.context
    frame: Frame | None = scope.frame
    while frame is not None and frame is not at.frame:
        frame.outer.setdefault((column.source, column.number), column)
        frame = frame.parent
    table = source.table
    if table is not None:
        if context.on_resolve is not None:
            context.on_resolve(node.column, table, number, "READ")
            if node.table is not None and source.item is not None and source.item.alias is None and source.key == fold(table.name):
                context.on_resolve(node.table, table, None, "TABLE")
    if context.authorize is not None and not getattr(node, "is_target", False):
        return resolve("sqlvec.plan.authorize:read")(source, number, column, binding)  # type: ignore[no-any-return]
    return column


def _alias(node: ast.ColumnRef, key: str, at: Scope, scope: Scope) -> Expression | None:
    assert at.aliases is not None
    for name, expression, alias in at.aliases:
        if name != key:
            continue
        kind = contains(expression)
        if "aggregate" in kind and not scope.allow_aggregates:
            raise errors.misuse_of_aliased_aggregate(alias) if at is not scope or scope.clause != "WHERE" else errors.misuse_of_aggregate(
                *_aggregate_written(expression, scope.binding))
        if "window" in kind and not (scope.allow_windows and at is scope):
            raise errors.misuse_of_aliased_window(alias)
        if isinstance(expression, Row):
            raise errors.row_value_misused()
        if at is not scope:
            _note_outer(expression, scope, at)
        return expression
    return None


def _note_outer(expression: Expression, scope: Scope, at: Scope) -> None:
    """An alias of an enclosing query was used: its columns are outer references."""
    for node in expression.walk():
        columns = [node] if isinstance(node, Column) else list(getattr(getattr(node, "subquery", None), "outer", ()))
        for column in columns:
            frame: Frame | None = scope.frame
            while frame is not None and frame is not at.frame:
                frame.outer.setdefault((column.source, column.number), column)
                frame = frame.parent


def _aggregate_written(expression: Expression, binding: Binding) -> tuple[str, int | None]:
    """Name and place of the first aggregate call in an expression."""
    for node in expression.walk():
        if type(node).__name__ == "AggregateCall":
            written = binding.written.get(id(node))
            if written is not None:
                return written.name.text, binding.offset(written)
    return "", None


def contains(expression: Expression) -> set[str]:
    """Which of 'aggregate' and 'window' occur in an expression (not inside its sub-queries)."""
    found = set()
    for node in expression.walk():
        name = type(node).__name__
        if name == "AggregateCall":
            found.add("aggregate")
        elif name == "WindowCall":
            found.add("window")
            for part in (*node.window.partition, *(term.expression for term in node.window.order)):  # type: ignore[attr-defined]
                found |= contains(part)
    return found


class Row(Expression):
    """A row value while it is being bound: comparisons take it apart, everything else refuses it.  ``is_query``: the columns of a sub-query."""

    __slots__ = ("is_query", "items")
    CHILDREN = ("items",)

    def __init__(self, items: tuple[Expression, ...], is_query: bool = False) -> None:
        super().__init__()
        self.items = items
        self.is_query = is_query
