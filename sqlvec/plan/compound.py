"""Compound SELECTs and VALUES.

The arms are bound from the last to the first, which is the order of the real one's error messages.  Terms of a compound's ORDER BY are result columns:
by number, by an alias of any arm, or as an expression equal to a result column of some arm.

Follows "SELECT", sections on compound select statements and VALUES, of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.expr import bound
from sqlvec.expr.bound import BINARY
from sqlvec.parse import ast
from sqlvec.plan.expressions import bind_all, bind_expression
from sqlvec.plan.logical import Block, Compound, ValuesQuery
from sqlvec.plan.scope import Scope
from sqlvec.plan.select import bind_core, bind_limit, finish_functions, integer_of, order_term, strip_collate
from sqlvec.schema.catalog import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.expr.bound import Expression
    from sqlvec.plan.logical import Query
    from sqlvec.plan.scope import Binding, Frame

COMPOUND_LIMIT = 500
ORDER_LIMIT = 2000


def bind_values(node: ast.Values, binding: Binding, parent: Scope | None, frame: Frame) -> Query:
    """VALUES (...), (...); rows with aggregates or window functions make it a compound of SELECTs without FROM."""
    rows = []
    scopes = []
    for row in node.rows:
        scope = Scope(binding, parent, frame)
        scope.allow_aggregates = scope.allow_windows = True
        scope.clause = "result"
        rows.append(bind_all(row, scope))
        scopes.append(scope)
    for bound_row in rows:
        if len(bound_row) != len(rows[0]):
            raise errors.values_arity()
    number = binding.number(node)
    names = tuple([f"column{position + 1}" for position in range(len(rows[0]))])
    if any(scope.aggregates or scope.windows for scope in scopes):
        arms: list[Query] = []
        for bound_row, scope in zip(rows, scopes, strict=True):
            block = Block(number)
            block.result, block.names = bound_row, names
            finish_functions(block, scope)
            arms.append(block)
        return arms[0] if len(arms) == 1 else make_compound(arms, ["UNION ALL"] * (len(arms) - 1), binding)
    query = ValuesQuery(number, rows)
    query.names = names
    return query


def bind_arms(cores: list[ast.SelectCore | ast.Values], operators: list[str], binding: Binding, parent: Scope | None,
              frame: Frame) -> tuple[list[Query], list[Scope | None]]:
    """Bind the arms of a compound and check that they have the same width."""
    if len(cores) > binding.context.settings.limits.get("SQLITE_LIMIT_COMPOUND_SELECT", COMPOUND_LIMIT):
        raise errors.too_many_compound_terms()
    arms: list[Query] = []
    scopes: list[Scope | None] = []
    for core in reversed(cores):
        if isinstance(core, ast.Values):
            arms.append(bind_values(core, binding, parent, frame))
            scopes.append(None)
        else:
            block, scope = bind_core(core, None, binding, parent, frame)
            arms.append(block)
            scopes.append(scope)
    arms.reverse()
    scopes.reverse()
    for position in range(len(arms) - 1, 0, -1):
        if len(arms[position].results()) != len(arms[position - 1].results()):
            if isinstance(cores[position], ast.Values):
                raise errors.values_arity()
            raise errors.compound_arity(operators[position - 1])
    return arms, scopes


def bind_compound(node: ast.Compound, select: ast.Select, binding: Binding, parent: Scope | None, frame: Frame) -> Query:
    """``core op core ...`` with the ORDER BY and LIMIT of the whole."""
    limited = Compound(0, [], [])
    bind_limit(select, limited, binding, frame, parent)
    arms, scopes = bind_arms(node.cores, node.operators, binding, parent, frame)
    query = make_compound(arms, list(node.operators), binding)
    query.limit, query.offset = limited.limit, limited.offset
    bind_compound_order(select.order_by, query, arms, scopes, binding)
    return query


def make_compound(arms: list[Query], operators: list[str], binding: Binding) -> Compound:
    """The Compound of bound arms; result names, affinity and collation are those of the left-most arm."""
    query = Compound(arms[-1].number, arms, operators)
    query.names = arms[0].names
    query.column_names = arms[0].column_names
    query.output_source = binding.statement.new_source()
    query.collations = compound_collations(arms)
    if any(operator != "UNION ALL" for operator in operators):
        for collation in query.collations:
            binding.need_collation(collation)
    return query


def compound_collations(arms: list[Query]) -> tuple[str, ...]:
    """Per result column the collation of the left-most arm that has one.

    VALUES of several rows on the right of an operator is a sub-query, and columns of sub-queries always have one."""
    found = []
    for number in range(len(arms[0].results())):
        for arm in arms:
            collation = arm.results()[number].collation
            if collation is None and isinstance(arm, ValuesQuery) and len(arm.rows) > 1 and arm is not arms[0]:
                collation = BINARY
            if collation:
                break
        found.append(collation or BINARY)
    return tuple(found)


def bind_compound_order(terms: list[ast.OrderTerm], query: Query, arms: list[Query], scopes: list[Scope | None], binding: Binding) -> None:
    """Set ``query.order_by``: Columns of ``query.output_source``."""
    if len(terms) > ORDER_LIMIT:
        raise errors.too_many_terms("ORDER")
    width = len(arms[0].results())
    found = []
    for position, term in enumerate(terms, 1):
        node, collation = strip_collate(term.expr)
        number = integer_of(node)
        if number is not None:
            if not 1 <= number <= width:
                raise errors.term_out_of_range(position, "ORDER", width, binding.offset(node))
        else:
            number = _matching_column(node, arms, scopes)
            if number is None:
                raise errors.term_matches_nothing(position)
        found.append(_output_term(term, number - 1, collation, query, arms, binding))
    query.order_by = tuple(found)


def _output_term(term: ast.OrderTerm, number: int, collation: str | None, query: Query, arms: list[Query], binding: Binding) -> bound.OrderTerm:
    result = arms[0].results()[number]
    collations = getattr(query, "collations", ())
    expression: Expression = bound.Column(query.output_source, number, query.names[number], result.affinity,
                                          collations[number] if collations else result.collation)
    if collation is not None:
        expression = bound.Collate(expression, collation)
    return order_term(term, expression, Scope(binding))


def _matching_column(node: ast.Node, arms: list[Query], scopes: list[Scope | None]) -> int | None:
    """1-based result column that the term names in some arm, the first arm tried first."""
    for arm, scope in zip(arms, scopes, strict=True):
        found = _match_in_arm(node, arm, scope)
        if found is not None:
            return found
    return None


def _match_in_arm(node: ast.Node, arm: Query, scope: Scope | None) -> int | None:
    if isinstance(node, ast.ColumnRef) and node.table is None and scope is not None:
        key = fold(node.column.text)
        for name, expression, _ in scope.aliases or ():
            if name == key:
                return next(number for number, result in enumerate(arm.results(), 1) if result is expression)
    if scope is None:
        return None
    scope.allow_aggregates = True
    count = len(scope.aggregates)
    try:
        expression = bind_expression(node, scope)
    except errors.SqlError:
        return None
    finally:
        scope.allow_aggregates = False
        del scope.aggregates[count:]
    key_wanted = expression.key()
    for number, result in enumerate(arm.results(), 1):
        if result.key() == key_wanted:
            return number
    return None
