"""FROM clauses: tables, views, sub-queries, table functions, nested joins; USING and NATURAL; ``*``.

``bind_from`` fills a scope with one Source per FROM item and gives the logical items.  Conditions of ON are bound later, with WHERE, whose terms they
become; those of USING are made here out of columns.

Follows "SELECT", sections on the FROM clause and join operators, and "Table-valued Functions" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.expr import bound
from sqlvec.expr.bound import compare
from sqlvec.parse import ast
from sqlvec.plan.logical import Block, Compound, Condition, FromItem
from sqlvec.plan.scope import Frame, Scope, Source
from sqlvec.resolve import resolve
from sqlvec.schema.catalog import fold
from sqlvec.schema.objects import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.expr.bound import Expression
    from sqlvec.plan.logical import Query

FROM_LIMIT = 200
JOIN_LIMIT = 64
AUTH_SELECT = 21


def bind_from(items: list[ast.JoinItem], scope: Scope) -> list[FromItem]:
    """Bind the sources of a FROM clause into ``scope``, left to right."""
    if len(items) > FROM_LIMIT:
        raise errors.too_many_from_terms()
    found = []
    for item in items:
        source = bind_source(item.source, scope)
        logical = source.item
        assert logical is not None
        source.join = item.join & (ast.JOIN_LEFT | ast.JOIN_RIGHT)
        logical.left = bool(item.join & ast.JOIN_LEFT)
        logical.right = bool(item.join & ast.JOIN_RIGHT)
        logical.cross = bool(item.join & ast.JOIN_CROSS)
        if logical.left:
            source.nullable = True
        if logical.right:
            for earlier in scope.sources:
                earlier.nullable = True
                earlier.item.left_of_right = True  # type: ignore[union-attr]
        scope.sources.append(source)
        found.append(logical)
    return found


def bind_source(node: Any, scope: Scope) -> Source:
    """One FROM item as a Source (not yet added to the scope)."""
    kind = type(node)
    if kind is ast.TableName:
        return _table(node, scope)
    if kind is ast.SubqueryFrom:
        return _subquery(node, scope)
    return _nested_join(node, scope)


# --- kinds of sources --------------------------------------------------------------------------------------------------------------------


def _new_item(name: str, alias: ast.Name | None, scope: Scope) -> FromItem:
    item = FromItem(scope.binding.statement.new_source(), name)
    if alias is not None:
        item.alias = alias.text
        item.label = alias.text
    return item


def _table(node: ast.TableName, scope: Scope) -> Source:
    binding = scope.binding
    if node.schema is None and binding.ctes is not None:
        definition = binding.ctes.find(fold(node.name.text))
        if definition is not None:
            return resolve("sqlvec.plan.cte:bind_reference")(node, definition, scope)  # type: ignore[no-any-return]
    table = find_table(node.schema, node.name, scope)
    if node.args is not None and table.kind != "virtual":
        raise errors.not_a_function(node.name.text)
    if table.kind == "view":
        return _view(node, table, scope)
    item = _new_item(node.name.text, node.alias, scope)
    item.table = table
    item.database = table.database
    binding.databases.add(table.database)
    item.not_indexed = node.not_indexed
    if node.indexed_by is not None:
        wanted = fold(node.indexed_by.text)
        if not any(fold(index.name) == wanted for index in table.indexes):
            raise errors.no_such_index(node.indexed_by.text)
        item.index_name = node.indexed_by.text
    item.columns = tuple([column.name for column in table.columns])
    if node.args is not None:
        hidden = sum(column.hidden for column in table.columns)
        if len(node.args) > hidden:
            raise errors.too_many_table_arguments(node.name.text, hidden)
    if binding.context.on_resolve is not None:
        binding.context.on_resolve(node.name, table, None, "TABLE")
    schema = binding.context.catalogs.names[table.database]
    return Source(item.source, fold(node.alias.text if node.alias is not None else node.name.text), fold(schema), table, item)


def find_table(schema: ast.Name | None, name: ast.Name, scope: Scope) -> Table:
    """The table, view or connected virtual table of this name; "no such table" if there is none."""
    binding = scope.binding
    context = binding.context
    qualifier = schema.text if schema is not None else binding.schema
    table = context.catalogs.find_table(qualifier, name.text)
    if table is None and (schema is None or fold(schema.text) == "main"):
        table = _eponymous(name.text, context)
    if table is None:
        raise errors.no_such_table(f"{qualifier}.{name.text}" if qualifier is not None else name.text)
    if table.kind == "virtual" and not table.columns:
        connect_columns(table, context)
    return table


def _eponymous(name: str, context: Any) -> Table | None:
    """A module used as a table without CREATE VIRTUAL TABLE."""
    instance = context.connect_vtab(0, name) if context.connect_vtab is not None else None
    if instance is None:
        return None
    table = Table(name, 0, (), 0, "virtual")
    table.module = name
    return resolve("sqlvec.schema.from_ast:with_module_columns")(table, instance.columns, instance.without_rowid)  # type: ignore[no-any-return]


def connect_columns(table: Table, context: Any) -> None:
    """Give a stored virtual table the columns that its module declares."""
    instance = context.connect_vtab(table.database, table.name) if context.connect_vtab is not None else None
    if instance is None:
        raise errors.plain(f"no such module: {table.module}")
    resolve("sqlvec.schema.from_ast:with_module_columns")(table, instance.columns, instance.without_rowid)


def _view(node: ast.TableName, view: Table, scope: Scope) -> Source:
    """A view is its SELECT, bound in the schema that the view belongs to and away from the CTEs around it."""
    binding = scope.binding
    if any(other is view or (other.name == view.name and other.database == view.database) for other in binding.views):
        raise errors.circular_view(view.name)
    saved = binding.ctes, binding.schema, binding.is_derived, binding.in_trigger, binding.context.on_resolve
    binding.views.append(view)
    binding.readers.append(view.name)
    binding.ctes = None
    binding.schema = None if view.database == 1 else binding.context.catalogs.names[view.database]
    binding.is_derived = True
    binding.in_trigger = False
    if saved[4] is not None:
        saved[4](node.name, view, None, "TABLE")
        binding.context.on_resolve = None
    try:
        frame = Frame(None)
        query = resolve("sqlvec.plan.select:bind_select")(view.select, binding, None, frame)
        names = table_names(query)
    finally:
        binding.views.pop()
        binding.readers.pop()
        binding.ctes, binding.schema, binding.is_derived, binding.in_trigger, binding.context.on_resolve = saved
    if view.view_columns:
        if len(view.view_columns) != len(names):
            for result in reversed(query.results()):
                binding.need_collation(result.collation or "BINARY")
            raise errors.view_columns(view.name, len(view.view_columns), len(names))
        names = view.view_columns
    if node.indexed_by is not None:
        raise errors.no_such_index(node.indexed_by.text)
    item = _new_item(node.name.text, node.alias, scope)
    item.view = view
    item.database = view.database
    schema = binding.context.catalogs.names[view.database]
    source = query_source(item, query, names, scope, fold(node.alias.text if node.alias is not None else node.name.text))
    source.schema = fold(schema)
    if view.view_columns and isinstance(query, Compound):       # columns named by the view take their types from the last arm
        source.results = query.arms[-1].results()
        item.affinities = tuple([result.affinity for result in source.results])
    return source


def _subquery(node: ast.SubqueryFrom, scope: Scope) -> Source:
    frame = Frame(scope.frame, is_from=True)
    query = resolve("sqlvec.plan.select:bind_select")(node.select, scope.binding, scope.parent, frame)
    item = _new_item("", node.alias, scope)
    item.name = item.label = node.alias.text if node.alias is not None else f"(subquery-{query.number})"
    item.is_correlated = bool(frame.outer)
    return query_source(item, query, table_names(query), scope, fold(node.alias.text) if node.alias is not None else "")


def query_source(item: FromItem, query: Query, names: tuple[str, ...], scope: Scope, key: str) -> Source:
    """A Source over a bound query."""
    item.query = query
    item.columns = names
    source = Source(item.source, key, None, None, item)
    source.set_query(query, names)
    for result in reversed(source.results):
        scope.binding.need_collation(result.collation or "BINARY")
    item.affinities = tuple([result.affinity for result in source.results])
    return source


def _nested_join(node: ast.ParenthesisedJoin, scope: Scope) -> Source:
    """``(a JOIN b ...)`` that cannot be part of the list around it: a SELECT of all columns whose table names stay visible.

    Before the columns of a table come those that USING merges with the next one; the merged ones alone answer to unqualified names."""
    binding = scope.binding
    frame = Frame(scope.frame)
    inner = Scope(binding, scope.parent, frame)
    block = Block(binding.number(node))
    block.from_items = bind_from(node.items, inner)
    pending = join_conditions(node.items, inner)
    results: list[Expression] = []
    names: list[str] = []
    origins: list[tuple[str | None, str, str]] = []
    hides: set[int] = set()
    for at, source in enumerate(inner.sources):
        following = _shared_names(inner.sources[at + 1], node.items[at + 1]) if at + 1 < len(inner.sources) else ()
        for key in following:
            if key in source.using:             # merged with a table further left already
                continue
            origins.append((None, "", key))
            results.append(merged_by_name(key, inner))
            names.append(getattr(results[-1], "name", "") or key)
        for number in range(source.column_count()):
            if source.table is not None and source.table.columns[number].hidden:
                continue
            name = source.column_name(number)
            key = fold(name) if source.origins is None else source.origins[number][2]
            if key in source.using or key in following or number in source.hides:
                hides.add(len(results))
            elif source.origins is None:
                _check_twins(source, number, name, inner)
            origins.append(source.origins[number] if source.origins is not None else (source.schema, source.key, key))
            results.append(source.column(number))
            names.append(name)
    block.result = tuple(results)
    block.names = unique_names(tuple(names))
    inner.clause = "WHERE"
    block.conditions = bind_conditions(pending, inner)
    item = _new_item("", node.alias, scope)
    item.name = item.label = node.alias.text if node.alias is not None else f"(join-{block.number})"
    item.is_correlated = bool(frame.outer)
    source = query_source(item, block, block.names, scope, fold(node.alias.text) if node.alias is not None else "")
    source.origins = tuple(origins)
    source.hides = frozenset(hides)
    return source


def _shared_names(source: Source, item: ast.JoinItem) -> tuple[str, ...]:
    """The USING columns of an operand in their order: as written, or (NATURAL) as its table has them."""
    if item.using:
        return tuple(dict.fromkeys(fold(name.text) for name in item.using))
    keys = [fold(source.column_name(number)) if source.origins is None else source.origins[number][2] for number in range(source.column_count())]
    return tuple(dict.fromkeys(key for key in keys if key in source.using))


# --- names of result columns ---------------------------------------------------------------------------------------------------------------


def table_names(query: Query) -> tuple[str, ...]:
    """The column names of a query used as a table."""
    return unique_names(query.column_names or query.names)


def unique_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Column names of a sub-query: duplicates get ``:1``, ``:2``; ``true`` and ``false`` become ``columnN``."""
    seen: set[str] = set()
    found = []
    for position, name in enumerate(names):
        if not name or fold(name) in ("true", "false"):
            name = f"column{position + 1}"
        candidate = name
        count = 0
        while fold(candidate) in seen:
            base, colon, digits = candidate.rpartition(":")
            if colon and digits.isdigit():
                candidate = base
            count += 1
            candidate = f"{candidate}:{count}"
        seen.add(fold(candidate))
        found.append(candidate)
    return tuple(found)


# --- joins ---------------------------------------------------------------------------------------------------------------------------------------


class PendingCondition:
    """An ON expression still to be bound, or a USING comparison, with its place."""

    __slots__ = ("bound", "item", "node")

    def __init__(self, node: ast.Node | None, bound_expression: Expression | None, item: FromItem) -> None:
        self.node = node
        self.bound = bound_expression
        self.item = item


def join_conditions(items: list[ast.JoinItem], scope: Scope) -> list[PendingCondition]:
    """Work out USING and NATURAL (columns become shared) and list what joins contribute to WHERE, in order.

    An ambiguous column doesn't end the work at once: of several the last is complained about."""
    found: list[PendingCondition] = []
    ambiguous: list[str] = []
    for position in range(1, len(items)):
        item, source = items[position], scope.sources[position]
        assert source.item is not None
        names = [name.text for name in item.using] if item.using is not None else None
        if item.join & ast.JOIN_NATURAL:
            if item.on is not None or item.using is not None:
                raise errors.natural_with_condition()
            names = _common_columns(scope, position)
        if names is not None:
            keys = []
            for name in names:
                found.append(PendingCondition(None, _using_term(name, scope, position, ambiguous), source.item))
                keys.append(fold(name))
            source.using = frozenset(keys)
        elif item.on is not None:
            found.append(PendingCondition(item.on, None, source.item))
    if ambiguous:
        raise errors.ambiguous_using(ambiguous[-1])
    return found


def _common_columns(scope: Scope, position: int) -> list[str]:
    right = scope.sources[position]
    names = []
    for number in range(right.column_count()):
        if right.table is not None and right.table.columns[number].hidden:
            continue
        name = right.column_name(number)
        if any(_visible_number(left, fold(name)) is not None for left in scope.sources[:position]):
            names.append(name)
    return names


def _visible_number(source: Source, key: str) -> int | None:
    number = source.find(key)
    if number is not None and source.table is not None and source.table.columns[number].hidden:
        return None
    return number


def _using_term(name: str, scope: Scope, position: int, ambiguous: list[str]) -> Expression:
    """``left.name = right.name`` of USING; the name goes to ``ambiguous`` when several tables on the left have the column."""
    key = fold(name)
    right = scope.sources[position]
    right_number = right.find(key)
    lefts = [source for source in scope.sources[:position] if source.find(key) is not None]
    if right_number is None or not lefts:
        raise errors.cannot_join_using(name)
    first: Expression = lefts[0].column(lefts[0].find(key))  # type: ignore[arg-type]
    if any(source.item.left_of_right for source in scope.sources[:position]):  # type: ignore[union-attr]
        values = [first]
        for other in lefts[1:]:
            if key not in other.using:
                ambiguous.append(name)
                break
            values.append(other.column(other.find(key)))  # type: ignore[arg-type]
        if len(values) > 1:
            first = bound.Call(scope.binding.context.functions.lookup("coalesce", len(values)), tuple(values))
    return compare("=", first, right.column(right_number))


def merged_by_name(name: str, scope: Scope) -> Expression:
    """The value of a USING column: what its unqualified name means in this scope."""
    saved = scope.parent
    scope.parent = None
    try:
        return resolve("sqlvec.plan.scope:resolve_column")(ast.ColumnRef(None, None, ast.Name(name, (0, 0)), (0, 0)), scope)  # type: ignore[no-any-return]
    finally:
        scope.parent = saved


def merged_column(source: Source, number: int, scope: Scope) -> Expression:
    """A column as ``*`` shows it: left of a RIGHT or FULL join, a column that later joins share by USING has its merged value."""
    if source.item is not None and source.item.left_of_right:
        key = fold(source.column_name(number))
        at = scope.sources.index(source)
        if any(key in later.using for later in scope.sources[at + 1 :]):
            return merged_by_name(source.column_name(number), scope)
    return source.column(number)


def bind_conditions(pending: list[PendingCondition], scope: Scope) -> list[Condition]:
    """ON and USING terms as conditions, AND-split, tagged with the join they belong to."""
    found = []
    for entry in pending:
        item = entry.item
        expression = entry.bound
        if expression is None:
            assert entry.node is not None
            try:
                expression = resolve("sqlvec.plan.expressions:bind_expression")(entry.node, scope)
            except errors.SqlError as error:
                if error.offset is not None and _is_operand_at(entry.node, error.offset):
                    error.offset = None
                raise
        is_outer = item.left or item.right
        for part in split_and(expression):
            found.append(Condition(part, item.source if is_outer else None, None if is_outer else item.source, entry.node is None))
    return found


def _is_operand_at(node: ast.Node, offset: int) -> bool:
    """Is the place ``offset`` in an ON clause one of an operand or a function argument?  These have no place of their own in SQLite; elements of lists
    (BETWEEN bounds, IN lists, CASE branches, row values) and what is in sub-queries do."""
    stack = [node]
    while stack:
        node = stack.pop()
        kind = type(node)
        if node.span[0] == offset and kind in (ast.ColumnRef, ast.FunctionCall, ast.Literal, ast.Parameter):
            return True
        if kind in (ast.Between, ast.InList, ast.InSelect, ast.InTable):
            stack.append(node.operand)  # type: ignore[attr-defined]
        elif kind is ast.Case:
            stack += [node.base] if node.base is not None else []  # type: ignore[attr-defined]
        elif kind not in (ast.RowValue, ast.ScalarSelect, ast.Exists):
            stack += resolve("sqlvec.schema.from_ast:children_in_order")(node)
    return False


def split_and(expression: Expression) -> tuple[Expression, ...]:
    """The terms of a top-level AND."""
    if type(expression) is bound.And:
        found: list[Expression] = []
        for operand in expression.operands:
            found.extend(split_and(operand))
        return tuple(found)
    return (expression,)


# --- * -------------------------------------------------------------------------------------------------------------------------------------------


def expand_star(scope: Scope, table: ast.Name | None) -> list[tuple[Expression, str, Source]]:
    """The columns that ``*`` or ``table.*`` stands for: (expression, name, source)."""
    found = []
    key = fold(table.text) if table is not None else None
    matched = False
    for source in scope.sources:
        if source.qualified_only:
            continue
        for number in range(source.column_count()):
            if source.table is not None and source.table.columns[number].hidden:
                continue
            name = source.column_name(number)
            if key is not None:
                if key != (source.key if source.origins is None else source.origins[number][1]):
                    continue
            elif number in source.hides or (fold(name) if source.origins is None else source.origins[number][2]) in source.using:
                continue
            matched = True
            _check_twins(source, number, name, scope)
            expression = merged_column(source, number, scope)
            if scope.binding.context.authorize is not None:
                expression = resolve("sqlvec.plan.authorize:read")(source, number, expression, scope.binding)
            found.append((expression, name, source))
    if not matched:
        raise errors.no_such_table(table.text) if table is not None else errors.no_tables_specified()
    return found


def _is_twin(other: Source, source: Source, key: str) -> bool:
    """Does ``other`` have a column of the same table name as well?"""
    if key in other.using:
        return False
    if other.origins is not None:
        return any(origin == (source.schema, source.key, key) and at not in other.hides for at, origin in enumerate(other.origins))
    return other.key == source.key and other.schema == source.schema and other.find(key) is not None


def _check_twins(source: Source, number: int, name: str, scope: Scope) -> None:
    """Two items of one name make the columns of ``*`` ambiguous; a lone nested join is asked by unqualified names."""
    if source.origins is not None:
        wanted = source.origins[number][2]
        if len(scope.sources) == 1 and sum(origin[2] == wanted and at not in source.hides for at, origin in enumerate(source.origins)) > 1:
            raise errors.ambiguous_column(wanted)
        return
    if source.key and any(_is_twin(other, source, fold(name)) for other in scope.sources if other is not source):
        item = source.item
        shown = (item.alias or item.name) if item is not None else source.key
        raise errors.ambiguous_column(f"{source.schema or '*'}.{shown}.{name}")
