"""RETURNING: the result list over the row that was written (or deleted).

Two habits of SQLite are kept here.  A column named in the list takes part in comparisons with the affinity and collation of the table's *first* column,
whichever column it is; where that affinity is REAL, integers shown as they are become floats.  And where it is not, a REAL column shows
the integer form in which its value has just been stored (``typeof`` still says real).

Follows "RETURNING" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.expr.bound import Call, Case, Column, Expression, Literal, Unary
from sqlvec.parse import ast
from sqlvec.plan.expressions import bind_expression
from sqlvec.plan.physical_dml import Returning
from sqlvec.plan.scope import Source
from sqlvec.resolve import resolve
from sqlvec.values.affinity import BLOB, REAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.plan.scope import Scope
    from sqlvec.schema.objects import Table


class ReturnedSource(Source):
    """The written row: all its columns compare as the first one."""

    __slots__ = ()

    def column(self, number: int) -> Column:
        table = self.table
        assert table is not None
        first = table.columns[0]
        if number < 0 or number == table.rowid_column:
            name = table.columns[table.rowid_column].name if table.rowid_column >= 0 else "rowid"
            return Column(self.source, -1, name, first.affinity, first.collation)
        return Column(self.source, number, table.columns[number].name, first.affinity, first.collation)


def _form(expression: Expression, table: Table, source: int, was_deleted: bool) -> str | None:
    """How the executor shows the value: 'real' (integers become floats), 'stored' (a REAL value in its stored form), None: as it is."""
    if expression.affinity == REAL:
        return "real"
    if table.kind != "table":
        return None
    kinds = {_kind(part, table, source, was_deleted) for part in _handed_on(expression)}
    return "stored" if "stored" in kinds and "float" not in kinds else None


def _handed_on(expression: Expression) -> tuple[Expression, ...]:
    """What the value may be a plain copy of."""
    if isinstance(expression, Call) and expression.function.builtin:
        name, arguments = expression.function.name, expression.arguments
        if name in ("coalesce", "ifnull", "min", "max"):
            return tuple([part for argument in arguments for part in _handed_on(argument)])
        if name == "nullif":
            return _handed_on(arguments[0])
        if name == "iif":
            return _handed_on(arguments[1]) + _handed_on(arguments[2])
    if isinstance(expression, Unary) and expression.operator == "+":
        return _handed_on(expression.operand)
    if isinstance(expression, Case):
        branches = (*expression.thens, *(() if expression.otherwise is None else (expression.otherwise,)))
        return tuple([part for branch in branches for part in _handed_on(branch)])
    return (expression,)


def _kind(expression: Expression, table: Table, source: int, was_deleted: bool) -> str:
    """'stored': a value that was just stored as REAL; 'float': something that may be an integral float and stays one; '': anything else."""
    if isinstance(expression, Literal):
        return "float" if type(expression.value) is float else ""
    if not isinstance(expression, Column) or expression.source != source:
        return "float"
    if expression.number < 0:
        return ""
    affinity = table.columns[expression.number].affinity
    if affinity == REAL and (not was_deleted or table.fields[expression.number] < 0):
        return "stored"
    return "float" if affinity in (REAL, BLOB) else ""


def bind_returning(items: list[ast.Node], scope: Scope, table: Table, source: int,
                   was_deleted: bool) -> tuple[Returning, tuple[str, ...], tuple[str | None, ...]]:
    """The clause, the names and the declared types of its columns.  ``scope`` shows the written row."""
    row = scope.sources[0]
    returned = scope.sources[0] = ReturnedSource(source, row.key, row.schema, table, None)
    returned.is_asked = row.is_asked
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
                expression: Expression = returned.column(number)
                if scope.binding.context.authorize is not None:
                    expression = resolve("sqlvec.plan.authorize:read")(returned, number, expression, scope.binding)
                expressions.append(expression)
                names.append(column.name)
                types.append(column.declared_type or None)
            continue
        assert isinstance(item, ast.ResultColumn)
        expression = bind_expression(item.expr, scope)
        declared: str | None = None
        name = item.text
        if isinstance(expression, Column) and expression.source == source:
            number = table.rowid_column if expression.number < 0 else expression.number
            if isinstance(item.expr, ast.ColumnRef):
                name = table.columns[number].name if number >= 0 else "rowid"
            declared = (table.columns[number].declared_type or None) if number >= 0 else "INTEGER"
        expressions.append(expression)
        names.append(item.alias.text if item.alias is not None else name)
        types.append(declared)
    forms = tuple([_form(expression, table, source, was_deleted) for expression in expressions])
    return Returning(tuple(expressions), forms), tuple(names), tuple(types)
