"""What scans need from the schema beyond stored fields: generated columns, defaults of added columns, virtual-table instances.

Schema expressions are bound once per table object, against source 0, and moved to the source of the scan.
"""
from __future__ import annotations

from sqlvec.expr.compile import compile_value
from sqlvec.resolve import resolve
from sqlvec.values.storage import BLOB, NUMERIC, apply_affinity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.exec.context import RunContext
    from sqlvec.expr.bound import Expression
    from sqlvec.schema.objects import Table


def binding(context: RunContext) -> Any:
    """A binding for schema expressions."""
    plan_context = resolve("sqlvec.plan.planner:PlanContext")(context.databases.catalogs, context.functions, context.settings)
    made = resolve("sqlvec.plan.scope:Binding")(plan_context)
    made.is_derived = True
    return made


def generated_columns(context: RunContext, table: Table, source: int) -> dict[int, Expression]:
    """The expressions of all generated columns of a table, over ``source``."""
    found = resolve("sqlvec.plan.schema_expr:bind_generated")(table, source, binding(context))
    return dict(found)


def default_value(context: RunContext, table: Table, number: int) -> Any:
    """The value of a column in rows written before the column was added."""
    expression = resolve("sqlvec.plan.schema_expr:bind_default")(table, number, binding(context))
    if expression is None:
        return None
    value = compile_value(expression, (), context)(())
    affinity = table.columns[number].affinity
    if affinity == BLOB and type(value) is float:
        affinity = NUMERIC  # type: ignore[assignment] # a numeric literal becomes the simplest number, also without an affinity
    return apply_affinity(value, affinity)  # type: ignore[arg-type]


def virtual_table(context: RunContext, table: Table) -> Any:
    """The connected instance of a virtual table."""
    return context.session.connect_table(table.database, table.name)


__all__ = ["binding", "default_value", "generated_columns", "virtual_table"]
