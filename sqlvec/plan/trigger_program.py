"""Trigger programs: a CREATE TRIGGER bound for one table, its statements planned one by one with NEW and OLD in sight.

Each statement of the body becomes a Plan of its own; NEW and OLD are rows of two sources that no statement scans, so their columns are outer values.
Names inside a trigger of a file are looked up in that file first and only; those of a temp trigger everywhere.

Follows "CREATE TRIGGER" of the manual.
"""
from __future__ import annotations

from sqlvec.parse import ast
from sqlvec.parse.walk import descendants
from sqlvec.plan import schema_expr
from sqlvec.plan.expressions import bind_expression
from sqlvec.plan.physical_dml import Program
from sqlvec.plan.scope import Binding, Scope
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.plan.physical_dml import TableWrite
    from sqlvec.plan.write_set import WriteBinder
    from sqlvec.schema.objects import Table, Trigger

TEMP = 1


def new_program(binder: WriteBinder, name: str, token: Any, table: Table) -> Program:
    """A program over OLD and NEW rows of ``table``, without statements yet."""
    old_source, new_source = binder.new_source(), binder.new_source()
    columns = schema_expr.image_columns(table, old_source) + schema_expr.image_columns(table, new_source)
    return Program(name, token, old_source, new_source, columns)


def program_scope(binding: Binding, program: Program, table: Table, event: str) -> Scope:
    """The scope in which NEW and OLD can be named, as far as the event has them."""
    scope = Scope(binding)
    if event != "INSERT":
        scope.add_table(table, program.old_source, name="old", qualified_only=True).is_asked = True
    if event != "DELETE":
        scope.add_table(table, program.new_source, name="new", qualified_only=True).is_asked = True
    return scope


def trigger_program(binder: WriteBinder, trigger: Trigger, write: TableWrite) -> Program:
    """The program of a trigger, made once per statement."""
    key = ("trigger", trigger.database, trigger.name.lower())
    found = binder.programs.get(key)
    if found is not None:
        return found
    program = binder.programs[key] = new_program(binder, trigger.name, key, write.table)
    binding = binder.derived_binding()
    binding.in_trigger = True
    binding.trigger_name = trigger.name
    if trigger.database != TEMP:
        binding.schema = binder.context.catalogs.names[trigger.database]
    scope = program_scope(binding, program, write.table, trigger.event)
    statement: ast.CreateTrigger = trigger.statement  # type: ignore[assignment]
    if statement.when is not None:
        program.when = bind_expression(statement.when, scope)
        resolve("sqlvec.plan.query_plan:lower_expressions")((program.when,), binding)
    program.may_abort = any(isinstance(node, ast.Raise) and node.action == "ABORT" for node in descendants(statement))
    for part in statement.body:
        plan = resolve("sqlvec.plan.dml:plan_part")(binder, part, scope)
        program.statements.append(plan)
        program.may_abort |= getattr(plan.root, "may_abort", False)
    return program
