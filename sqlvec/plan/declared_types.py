"""Declared types of result columns: what sqlite3_column_decltype() tells of a result that is a plain column, also through sub-queries and views."""
from __future__ import annotations

from sqlvec.expr.bound import Column, ScalarSubquery
from sqlvec.plan.logical import Block, Compound, RecursiveQuery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.expr.bound import Expression
    from sqlvec.plan.logical import Query


def declared_types(query: Query) -> tuple[str | None, ...]:
    """One declared type, or None, per result column (of the left-most arm)."""
    if isinstance(query, Compound):
        return declared_types(query.arms[0])
    if isinstance(query, RecursiveQuery):
        return declared_types(query.setup)
    if isinstance(query, Block):
        return tuple([_type_of(expression, query) for expression in query.result])
    return (None,) * len(query.results())


def _type_of(expression: Expression, block: Block) -> str | None:
    if isinstance(expression, ScalarSubquery):
        types = declared_types(expression.subquery.query)
        return types[expression.number] if expression.number < len(types) else None
    if not isinstance(expression, Column):
        return None
    table = expression.table
    if table is not None:
        number = expression.number if expression.number >= 0 else table.rowid_column
        return (table.columns[number].declared_type or None) if number >= 0 else "INTEGER"
    for item in block.from_items:
        if item.source == expression.source:
            inner = item.query if item.query is not None else item.recursive
            if inner is not None and expression.number >= 0:
                return declared_types(inner)[expression.number]
    return None
