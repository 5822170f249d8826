"""Sub-queries in expressions: scalar, EXISTS, IN (SELECT), IN table.

Each becomes one :class:`~sqlvec.expr.bound.Subquery` whose ``outer`` are the columns of enclosing queries that it reads.

Follows "SQL Language Expressions", sections on sub-queries, of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.expr.bound import Compare, Literal, Subquery
from sqlvec.parse import ast
from sqlvec.plan.scope import Frame, Scope
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.plan.logical import Query


def bind_subquery(select: ast.Select, scope: Scope, kind: str) -> Subquery:
    """Bind ``select`` inside ``scope``; ``kind`` is 'scalar', 'EXISTS' or 'IN'."""
    if scope.restriction is not None:
        raise errors.prohibited("subqueries", scope.restriction)
    frame = Frame(scope.frame)
    query = resolve("sqlvec.plan.select:bind_select")(select, scope.binding, scope, frame)
    return _made(query, frame, scope, kind)


def bind_table_subquery(node: ast.InTable, scope: Scope) -> Subquery:
    """``IN table``: all columns of the table."""
    if scope.restriction is not None:
        raise errors.prohibited("subqueries", scope.restriction)
    name = ast.TableName(node.schema, node.table, None, None, False, node.args, node.span)
    core = ast.SelectCore(False, [ast.Star(node.span)], [ast.JoinItem(name, 0, None, None, node.span)], None, [], None, [], node.span)
    select = ast.Select(None, core, [], None, None, node.span)
    frame = Frame(scope.frame)
    if scope.binding.numbers:
        scope.binding.numbers[id(core)] = scope.binding.numbers.get(id(node), 0)
    query = resolve("sqlvec.plan.select:bind_select")(select, scope.binding, scope, frame)
    return _made(query, frame, scope, "IN")


def _made(query: Query, frame: Frame, scope: Scope, kind: str) -> Subquery:
    statement = scope.binding.statement
    if kind != "IN":
        _only_first_row(query, kind)
    made = Subquery(query, query.number, statement.new_slot())
    made.kind = kind
    made.outer = tuple(frame.outer.values())
    made.is_correlated = bool(made.outer)
    scope.binding.subqueries.append(made)
    return made


def _only_first_row(query: Query, kind: str) -> None:
    """Only one row is wanted: LIMIT 1, or ``n <> 0`` where a limit was written.  EXISTS does not care for order."""
    if query.limit is None:
        query.limit = Literal(1)
        if kind == "EXISTS":
            query.order_by = ()
    else:
        query.limit = Compare("<>", query.limit, Literal(0))
