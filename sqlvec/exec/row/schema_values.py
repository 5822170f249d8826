"""What scans need from the schema beyond stored fields: generated columns, defaults of added columns, virtual-table instances.

Schema expressions are bound once per table object, against source 0, and moved to the source of the scan.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.expr.compile import compile_value
from sqlvec.resolve import resolve
from sqlvec.values.numeric_text import number_of_text
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
    column = table.columns[number]
    literal = number_text(column.default_text or "")
    if literal is not None:
        return literal_default(literal, column.affinity)
    expression = resolve("sqlvec.plan.schema_expr:default_or_error")(table, number, binding(context))
    if expression is None or isinstance(expression, errors.SqlError):
        return None
    return apply_affinity(compile_value(expression, (), context)(()), column.affinity)


def number_text(text: str) -> str | None:
    """The text of a default that is a numeric literal, perhaps with a sign, without blanks and parentheses; None for anything else."""
    text = text.strip()
    while text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip()
    sign = ""
    if text[:1] in ("-", "+"):
        sign = text[0].strip("+")
        text = text[1:].strip()
    is_hex = text[:2].lower() == "0x"
    if not text or not (text[0].isdigit() or text[0] == ".") or not (is_hex or number_of_text(text) is not None):
        return None
    return sign + text


def literal_default(literal: str, affinity: Any) -> Any:
    """A numeric literal as the default of an added column: the column's affinity (or NUMERIC) applied to its *text*, as in the original:
    1.0 becomes 1, a TEXT column keeps 1e3 as it is written, and a hexadecimal one beyond 31 bits stays text."""
    value: Any = literal
    digits = literal.lstrip("-")
    if digits[:2].lower() == "0x":
        number = int(digits, 16)
        if number <= 0x7FFFFFFF:
            value = -number if literal.startswith("-") else number
    elif digits.isdigit() and int(digits) <= 0x7FFFFFFF:
        value = int(literal)
    return apply_affinity(value, NUMERIC if affinity in (BLOB, None) else affinity)


def virtual_table(context: RunContext, table: Table) -> Any:
    """The connected instance of a virtual table."""
    return context.session.connect_table(table.database, table.name)


__all__ = ["binding", "default_value", "generated_columns", "virtual_table"]
