"""ON CONFLICT clauses of INSERT: which constraint each one means, and its assignments.

A target means the rowid, or a UNIQUE index whose key columns it lists, in any order; COLLATE in the target must agree with the index, and a partial
index needs its WHERE repeated.  Only the last clause may be without a target.

Follows "UPSERT" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.expr.bound import Collate, Column, Expression
from sqlvec.plan import schema_expr
from sqlvec.plan.expressions import bind_expression, bind_operand, misused
from sqlvec.plan.physical_dml import UpsertClause
from sqlvec.plan.scope import Row, Scope
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.parse import ast
    from sqlvec.plan.dml import Statement
    from sqlvec.plan.physical_dml import Insert, TableWrite
    from sqlvec.schema.objects import Index


def bind_upserts(bound: Statement, node: Insert, statement: ast.Insert) -> None:
    """Fill in the clauses of the statement."""
    clauses = []
    assigned: set[str] = set()
    for number, upsert in enumerate(statement.upserts, 1):
        clause = _target(bound, node.write, upsert, number, len(statement.upserts), statement.table)
        if upsert.sets is not None:
            _bind_update(bound, node.write, clause, upsert, statement.table)
            assigned |= {name.text.lower() for part in upsert.sets for name in part.names}
        clauses.append(clause)
    node.upserts = tuple(clauses)
    if assigned:
        node.update_triggers = bound.binder.trigger_set(node.write, "UPDATE", assigned)


def _target(bound: Statement, write: TableWrite, upsert: ast.Upsert, number: int, count: int, name: ast.TableName) -> UpsertClause:
    if upsert.target is None:
        return UpsertClause(None, False)
    scope = bound.row_scope(write, name)
    targets = [bind_expression(term.expr, scope) for term in upsert.target]
    where = bind_expression(upsert.target_where, scope) if upsert.target_where is not None else None
    if len(targets) == 1 and isinstance(targets[0], Column) and targets[0].number == -1 and not write.table.without_rowid:
        return UpsertClause(None, True)
    binding = bound.binder.derived_binding()
    for index in write.table.indexes:
        if index.unique and index.key_count == len(targets) and _is_meant(index, write.source, targets, where, binding):
            return UpsertClause(index, False)
    prefix = ""
    if count > 1:
        ending = "th" if number % 100 // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
        prefix = f"{number}{ending} "
    raise errors.plain(f"{prefix}ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint")


def _is_meant(index: Index, source: int, targets: list[Expression], where: Expression | None, binding: Any) -> bool:
    condition = schema_expr.bind_index_condition(index, source, binding)
    if condition is not None and (where is None or where.key() != condition.key()):
        return False
    computed = schema_expr.bind_index_expressions(index, source, binding)
    for field, expression in zip(index.columns[: index.key_count], computed, strict=False):
        if not any(_agrees(target, field, expression, index) for target in targets):
            return False
    return True


def _agrees(target: Expression, field: Any, expression: Expression | None, index: Index) -> bool:
    if isinstance(target, Collate):
        if (target.collation or "").lower() != field.collation.lower():
            return False
        target = target.operand
    if expression is not None:
        if isinstance(expression, Collate):
            expression = expression.operand
        return target.key() == expression.key()
    number = -1 if field.column == index.table.rowid_column else field.column
    return isinstance(target, Column) and target.number == number


AUTH_UPDATE = 23


def _bind_update(bound: Statement, write: TableWrite, clause: UpsertClause, upsert: ast.Upsert, name: ast.TableName) -> None:
    scope = bound.row_scope(write, name)
    clause.excluded_source = bound.binder.new_source()
    if scope.sources[0].key != "excluded":
        scope.add_table(write.table, clause.excluded_source, name="excluded", qualified_only=True).is_excluded = True
    found: dict[int, Expression] = {}
    assigned_column = resolve("sqlvec.plan.dml:assigned_column")
    assert upsert.sets is not None
    for part in upsert.sets:
        values = _values(part, scope)
        for column, value in zip(part.names, values, strict=True):
            target = assigned_column(write.table, column, bound.binding)
            if not bound.authorize(AUTH_UPDATE, write.table, column.text):
                continue
            found.pop(target, None)
            found[target] = value
    clause.assignments = tuple(found.items())
    if upsert.where is not None:
        clause.where = bind_expression(upsert.where, scope)


def _values(part: ast.SetClause, scope: Scope) -> tuple[Expression, ...]:
    bound = bind_operand(part.expr, scope)
    values = bound.items if isinstance(bound, Row) else (bound,)
    if len(values) != len(part.names):
        if isinstance(bound, Row) and len(part.names) == 1:
            raise misused(bound)
        raise errors.columns_assigned_values(len(part.names), len(values))
    return values
