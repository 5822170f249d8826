"""RETURNING: the result list over the row that was written (or deleted).

Follows "RETURNING" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.expr.bound import Column, Expression
from sqlvec.parse import ast
from sqlvec.plan.expressions import bind_expression
from sqlvec.plan.physical_dml import Returning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.plan.scope import Scope
    from sqlvec.schema.objects import Table


def bind_returning(items: list[ast.Node], scope: Scope, table: Table, source: int) -> tuple[Returning, tuple[str, ...], tuple[str | None, ...]]:
    """The clause, the names and the declared types of its columns."""
    expressions: list[Expression] = []
    names: list[str] = []
    types: list[str | None] = []
    for item in items:
        if isinstance(item, ast.TableStar):
            raise errors.plain('RETURNING may not use "TABLE.*" wildcards')
        if isinstance(item, ast.Star):
            for number, column in enumerate(table.columns):
                if column.hidden:
                    continue
                place = -1 if number == table.rowid_column else number
                expressions.append(Column(source, place, column.name, column.affinity, column.collation, False, table))  # type: ignore[arg-type]
                names.append(column.name)
                types.append(column.declared_type or None)
            continue
        assert isinstance(item, ast.ResultColumn)
        expression = bind_expression(item.expr, scope)
        declared: str | None = None
        name = item.text
        if isinstance(expression, Column) and expression.table is table:
            number = table.rowid_column if expression.number < 0 else expression.number
            if isinstance(item.expr, ast.ColumnRef):
                name = table.columns[number].name if number >= 0 else "rowid"
            declared = (table.columns[number].declared_type or None) if number >= 0 else "INTEGER"
        expressions.append(expression)
        names.append(item.alias.text if item.alias is not None else name)
        types.append(declared)
    return Returning(tuple(expressions)), tuple(names), tuple(types)
