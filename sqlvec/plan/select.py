"""Binding SELECT: one core at a time, in the order in which the real one reports errors.

FROM tables left to right, ``*`` and USING, LIMIT, result list, HAVING, WHERE with ON, arguments of table functions, ORDER BY, GROUP BY.  The core becomes
a logical Block; compounds and VALUES are in plan/compound.py, CTEs in plan/cte.py.

Follows "SELECT" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.expr import bound
from sqlvec.expr.bound import BINARY
from sqlvec.parse import ast
from sqlvec.plan.expressions import bind_all, bind_expression
from sqlvec.plan.from_ import bind_conditions, bind_from, expand_star, join_conditions, split_and
from sqlvec.plan.logical import Block, Condition
from sqlvec.plan.scope import ROWID_NAMES, Frame, Scope, contains
from sqlvec.resolve import resolve
from sqlvec.schema.catalog import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.expr.bound import Expression
    from sqlvec.plan.logical import Query
    from sqlvec.plan.scope import Binding, Source

COLUMN_LIMIT = 2000
AUTH_SELECT = 21


def bind_select(select: ast.Select, binding: Binding, parent: Scope | None, frame: Frame) -> Query:
    """Bind a whole SELECT (with its WITH, ORDER BY, LIMIT); ``parent`` is the enclosing scope whose names it may use."""
    saved = binding.ctes
    if select.with_ is not None:
        binding.ctes = resolve("sqlvec.plan.cte:CteFrame")(select.with_, binding.ctes, binding)
    try:
        return bind_body(select.body, select, binding, parent, frame)
    finally:
        binding.ctes = saved


def bind_body(body: ast.Node, select: ast.Select, binding: Binding, parent: Scope | None, frame: Frame) -> Query:
    """Bind a SELECT whose WITH is already in sight."""
    if type(body) is ast.SelectCore:
        return bind_core(body, select, binding, parent, frame)[0]
    if type(body) is ast.Values:
        return resolve("sqlvec.plan.compound:bind_values")(body, binding, parent, frame)  # type: ignore[no-any-return]
    return resolve("sqlvec.plan.compound:bind_compound")(body, select, binding, parent, frame)  # type: ignore[no-any-return]


def bind_limit(select: ast.Select, query: Query, binding: Binding, frame: Frame, parent: Scope | None) -> None:
    """LIMIT and OFFSET see no columns, not even those of enclosing queries, but NEW and OLD of a trigger."""
    if select.limit is None:
        return
    scope = Scope(binding, _program_scope(parent), frame)
    query.limit = bind_expression(select.limit, scope)
    if select.offset is not None:
        query.offset = bind_expression(select.offset, scope)


def bind_core(core: ast.SelectCore, select: ast.Select | None, binding: Binding, parent: Scope | None, frame: Frame) -> tuple[Block, Scope]:
    """Bind one core; with ``select`` also its ORDER BY and LIMIT.  Gives the scope too, in which an ORDER BY of a compound is tried."""
    scope = Scope(binding, parent, frame)
    block = Block(binding.number(core))
    block.distinct = core.distinct
    scope.is_grouped = bool(core.group_by)
    scope.counts_stars = binding.numbers.get(id(core)) == 0 and len(core.from_) == 1        # (0: a scan of UPDATE or DELETE)
    is_asked = binding.context.authorize is not None and not scope.counts_stars
    if is_asked:
        resolve("sqlvec.plan.authorize:check")(binding.authorize(AUTH_SELECT, None, None, None))
    block.from_items = bind_from(core.from_, scope)
    pending = join_conditions(core.from_, scope)
    scope.window_definitions = {fold(definition.name.text): definition.spec for definition in reversed(core.windows)}
    if select is not None:
        bind_limit(select, block, binding, frame, parent)
    _bind_result(core, block, scope)
    if core.having is not None:
        if not core.group_by and not scope.aggregates:
            raise errors.having_without_aggregate()
        scope.clause = "HAVING"
        scope.allow_aggregates, scope.allow_windows = True, False
        block.having = bind_expression(core.having, scope)
    scope.allow_aggregates = scope.allow_windows = False
    scope.clause = "WHERE"
    if core.where is not None:
        block.conditions = [Condition(part) for part in split_and(bind_expression(core.where, scope))]
    block.conditions += bind_conditions(pending, scope)
    _check_join_conditions(block)
    _bind_table_arguments(core, scope)
    scope.parent = _program_scope(scope.parent)         # ORDER BY and GROUP BY may not refer to enclosing queries
    if select is not None and select.order_by:
        scope.clause = "ORDER BY"
        scope.allow_aggregates = scope.allow_windows = True
        block.order_by = _bind_order_by(select.order_by, block, scope)
    if core.group_by:
        scope.clause = "GROUP BY"
        scope.allow_aggregates, scope.allow_windows = True, False
        block.group_by = _bind_group_by(core.group_by, block, scope)
    scope.allow_aggregates = scope.allow_windows = False
    if not core.from_ and any(isinstance(column, ast.Star) for column in core.columns):
        raise errors.no_tables_specified()
    finish_functions(block, scope)
    if is_asked:
        resolve("sqlvec.plan.authorize:unread_tables")(block, binding)
    if len(block.from_items) > 64:
        raise errors.too_many_join_tables()
    return block, scope


def _program_scope(scope: Scope | None) -> Scope | None:
    """The outermost scope, if it holds the NEW and OLD rows of a program."""
    while scope is not None and (scope.parent is not None or any(source.item is not None for source in scope.sources)):
        scope = scope.parent
    return scope


def _bind_result(core: ast.SelectCore, block: Block, scope: Scope) -> None:
    result: list[Expression] = []
    names: list[str] = []
    aliases: list[tuple[str, Expression, str]] = []
    scope.allow_aggregates = scope.allow_windows = True
    scope.clause = "result"
    # Stars are expanded before any expression is bound.
    stars = [expand_star(scope, None if isinstance(column, ast.Star) else column.table) if not isinstance(column, ast.ResultColumn) else None
             for column in core.columns]
    for column, star in zip(core.columns, stars, strict=True):
        if star is not None or not isinstance(column, ast.ResultColumn):
            for expression, name, source in star or ():
                result.append(expression)
                names.append(_star_name(name, source, scope))
            continue
        expression = bind_expression(column.expr, scope)
        result.append(expression)
        names.append(result_name(column, expression, scope))
        if column.alias is not None:
            aliases.append((fold(column.alias.text), expression, column.alias.text))
    if len(result) > scope.binding.context.settings.limits.get("SQLITE_LIMIT_COLUMN", COLUMN_LIMIT):
        raise errors.too_many_result_columns()
    block.result = tuple(result)
    block.names = tuple(names)
    if not scope.binding.context.settings.short_column_names or any(
            isinstance(column, ast.ResultColumn) and column.alias is None and isinstance(column.expr, ast.Collate) for column in core.columns):
        block.column_names = _column_names(core, block, stars)
    scope.aliases = aliases


def _column_names(core: ast.SelectCore, block: Block, stars: list[list[tuple[Expression, str, Source]] | None]) -> tuple[str, ...]:
    """Names as columns of a table: a plain column under COLLATE keeps its own."""
    found: list[str] = []
    for column, star in zip(core.columns, stars, strict=True):
        if star is not None:
            found.extend(name for _, name, _ in star)
            continue
        name = block.names[len(found)]
        expression = block.result[len(found)]
        while isinstance(expression, bound.Collate):
            expression = expression.operand
        if isinstance(expression, bound.Column) and isinstance(column, ast.ResultColumn) and column.alias is None:
            name = expression.name
        found.append(name)
    return tuple(found)


def _star_name(name: str, source: Source, scope: Scope) -> str:
    settings = scope.binding.context.settings
    if settings.full_column_names and not settings.short_column_names and source.item is not None:
        return f"{source.item.label}.{name}"
    return name


def result_name(column: ast.ResultColumn, expression: Expression, scope: Scope) -> str:
    """The name of a result column: alias, declared column name, or source text."""
    if column.alias is not None:
        return column.alias.text
    node = column.expr
    if isinstance(node, ast.ColumnRef):
        settings = scope.binding.context.settings
        if isinstance(expression, bound.Column):
            if settings.short_column_names:
                return expression.name
            if settings.full_column_names:
                return f"{expression.table.name if expression.table is not None else ''}.{expression.name}"
        elif fold(node.column.text) in ROWID_NAMES and isinstance(expression, bound.Literal) and expression.value is None:
            return "rowid"
        elif isinstance(expression, bound.Call):
            return node.column.text
    return column.text


def _check_join_conditions(block: Block) -> None:
    """An ON clause that decides about NULL rows must not read tables to its right."""
    has_right = any(item.right for item in block.from_items)
    if not has_right and not any(item.left for item in block.from_items):
        return
    places = {item.source: place for place, item in enumerate(block.from_items)}
    for condition in block.conditions:
        source = condition.outer_on if condition.outer_on is not None else (condition.inner_on if has_right else None)
        if source is not None and any(places.get(read, -1) > places[source] for read in bound.sources_of(condition.expression)):
            raise errors.on_refers_right()


def _bind_table_arguments(core: ast.SelectCore, scope: Scope) -> None:
    for item, source in zip(core.from_, scope.sources, strict=False):
        if isinstance(item.source, ast.TableName) and item.source.args is not None and source.item is not None:
            source.item.arguments = bind_all(item.source.args, scope)


# --- ORDER BY and GROUP BY -----------------------------------------------------------------------------------------------------------------


def strip_collate(node: ast.Node) -> tuple[ast.Node, str | None]:
    """Take COLLATE off; the outermost counts."""
    collation = None
    while isinstance(node, ast.Collate):
        collation = collation or node.collation.text
        node = node.operand
    return node, collation


def integer_of(node: ast.Node) -> int | None:
    """The value of an integer literal, also signed."""
    sign = 1
    while isinstance(node, ast.Unary) and node.op in "+-":
        if node.op == "-":
            sign = -sign
        node = node.operand
    if isinstance(node, ast.Literal) and node.kind == "integer" and type(node.value) is int and abs(node.value) <= 0x7FFFFFFF:
        return sign * node.value
    return None


def order_term(term: ast.OrderTerm, expression: Expression, scope: Scope) -> bound.OrderTerm:
    """The term with its collation and place of NULLs."""
    collation = scope.binding.need_collation(expression.collation or BINARY)
    nulls_last = None if term.nulls is None else term.nulls == "LAST"
    if nulls_last is not None and nulls_last == term.desc:
        nulls_last = None
    return bound.OrderTerm(expression, term.desc, nulls_last, collation)


def _bind_order_by(terms: list[ast.OrderTerm], block: Block, scope: Scope) -> tuple[bound.OrderTerm, ...]:
    if len(terms) > COLUMN_LIMIT:
        raise errors.too_many_terms("ORDER")
    found = []
    for position, term in enumerate(terms, 1):
        node, collation = strip_collate(term.expr)
        expression = _result_by_alias(node, scope)
        if expression is None:
            number = integer_of(node)
            if number is not None:
                if not 1 <= number <= len(block.result):
                    raise _out_of_range(position, "ORDER", number, node, block, scope)
                expression = block.result[number - 1]
        if expression is None:
            expression = bind_expression(node, scope)
        if scope.windows:
            expression = resolve("sqlvec.plan.window:repeat_main_calls")(expression, block.result, scope.windows)
        if collation is not None:
            expression = bound.Collate(expression, collation)
        found.append(order_term(term, expression, scope))
    return tuple(found)


def _result_by_alias(node: ast.Node, scope: Scope) -> Expression | None:
    if isinstance(node, ast.ColumnRef) and node.table is None:
        key = fold(node.column.text)
        for name, expression, _ in scope.aliases or ():
            if name == key:
                return expression
    return None


def _bind_group_by(terms: list[ast.Node], block: Block, scope: Scope) -> tuple[Expression, ...]:
    if len(terms) > COLUMN_LIMIT:
        raise errors.too_many_terms("GROUP")
    found = []
    for position, term in enumerate(terms, 1):
        node, collation = strip_collate(term)
        number = integer_of(node)
        if number is not None:
            if not 1 <= number <= len(block.result):
                raise _out_of_range(position, "GROUP", number, node, block, scope)
            expression = block.result[number - 1]
        else:
            expression = bind_expression(node, scope)
        if collation is not None:
            expression = bound.Collate(expression, collation)
        found.append(expression)
    for expression in found:
        kind = contains(expression)
        if "aggregate" in kind:
            raise errors.aggregate_in_group_by()
        if "window" in kind:
            raise _window_in_group_by(expression, scope.binding)
        scope.binding.need_collation(expression.collation or BINARY)
    return tuple(found)


def _window_in_group_by(expression: Expression, binding: Binding) -> Exception:
    call = next(node for node in expression.walk() if type(node) is bound.WindowCall)
    written = binding.written[id(call)]
    return errors.misuse_of_function("window", written.name.text, binding.offset(written))


# --- aggregates and windows ------------------------------------------------------------------------------------------------------------------


def finish_functions(block: Block, scope: Scope) -> None:
    """Note the aggregates and window functions that the scope collected."""
    misused = scope.misused or (scope.misused_under_windows if scope.windows else None)
    if misused is not None:
        raise errors.misuse_of_aggregate(misused.name.text, scope.binding.offset(misused))
    _finish_aggregates(block, scope)
    block.windows = _distinct_windows(scope)


def _out_of_range(position: int, clause: str, number: int, node: ast.Node, block: Block, scope: Scope) -> Exception:
    """The place is known only of numbers that no SELECT could have."""
    offset = None if 1 <= number <= 0xFFFF else scope.binding.operand_offset(node)
    return errors.term_out_of_range(position, clause, len(block.result), offset)


def _finish_aggregates(block: Block, scope: Scope) -> None:
    """Settle whether this is an aggregate query, and list its aggregates: result list, ORDER BY, HAVING."""
    in_result = any(clause in ("result", "HAVING") for clause, _ in scope.aggregates)
    block.is_aggregate = block.group_by is not None or in_result
    if not block.is_aggregate:
        if scope.aggregates and not block.from_items:
            block.order_by = ()             # one row needs no order: the terms are never computed
        elif scope.aggregates:
            written = scope.binding.written[id(scope.aggregates[0][1])]
            raise errors.misuse_of_aggregate(written.name.text, None if scope.windows else scope.binding.offset(written))
        return
    seen = set()
    for wanted in ("result", "ORDER BY", "HAVING", "GROUP BY"):
        for clause, call in scope.aggregates:
            if clause == wanted and call.key() not in seen:
                seen.add(call.key())
                block.aggregates.append(call)


def _distinct_windows(scope: Scope) -> list[bound.WindowCall]:
    found: list[bound.WindowCall] = []
    seen = set()
    for call in scope.windows:
        key = call.key()
        if key not in seen:
            seen.add(key)
            found.append(call)
    return found
