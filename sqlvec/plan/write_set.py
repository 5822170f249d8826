"""What writing a table involves: indexes, constraints, triggers, foreign keys, gathered once per table and statement.

A :class:`WriteBinder` lives while one top-level INSERT, UPDATE or DELETE is planned.  It hands out the ``TableWrite`` of a table and the Program of a
trigger, making each the first time it is asked; both may be recursive (a trigger that writes its own table), so an object is remembered before it is filled.

All programs of the statement share source and slot numbers, so that a Column means one thing in the whole plan.
"""
from __future__ import annotations

from sqlvec.expr.bound import columns_of
from sqlvec.plan import schema_expr
from sqlvec.plan.physical_dml import IndexWrite, TableWrite, TriggerSet
from sqlvec.plan.scope import Binding
from sqlvec.resolve import resolve
from sqlvec.values.affinity import REAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.expr.bound import Expression
    from sqlvec.plan.physical_dml import Program
    from sqlvec.schema.objects import Index, Table, Trigger


class WriteBinder:
    """See the module essay.  ``binding`` is that of the top-level statement.

    ``is_lenient``: the text is bound for its names only (ALTER); counts and column lists are not checked."""

    is_lenient = False

    def __init__(self, context: Any) -> None:
        self.context = context
        self.binding = Binding(context)         # the caller may put the statement's own here
        self.writes: dict[tuple[int, str], TableWrite] = {}
        self.programs: dict[Any, Program] = {}
        self.databases: set[int] = set()
        self.written: set[int] = set()

    def derived_binding(self) -> Binding:
        """A binding for text that isn't the statement's own: it shares the counters, and its errors have no offset."""
        binding = Binding(self.context)
        binding.statement = self.binding.statement
        binding.databases = self.binding.databases
        binding.subqueries = self.binding.subqueries
        binding.is_derived = True
        return binding

    def new_source(self) -> int:
        return self.binding.statement.new_source()

    # --- tables ------------------------------------------------------------------------------------------------------------------

    def table_write(self, table: Table) -> TableWrite:
        """The TableWrite of a table (of a view: just its layout)."""
        key = (table.database, table.name.lower())
        found = self.writes.get(key)
        if found is not None:
            return found
        source = self.new_source()
        write = self.writes[key] = TableWrite(table, source, schema_expr.image_columns(table, source))
        self.written.add(table.database)
        if table.kind == "table":
            self._fill(write)
        return write

    def _fill(self, write: TableWrite) -> None:
        table, source = write.table, write.source
        binding = self.derived_binding()
        write.defaults = tuple(schema_expr.default_or_error(table, number, binding) for number in range(len(table.columns)))
        write.generated = schema_expr.bind_generated(table, source, binding) if any(
            column.generated is not None for column in table.columns
        ) else ()
        write.checks = schema_expr.bind_checks(table, source, binding)
        write.not_null = tuple(
            (number, column.not_null) for number, column in enumerate(table.columns)
            if column.not_null is not None and (number != table.rowid_column)
        )
        write.indexes = tuple(index_write(index, source, binding) for index in table.indexes)
        if self.context.settings.foreign_keys:
            resolve("sqlvec.plan.foreign_key_program:add_foreign_keys")(self, write)
        if self.context.settings.recursive_triggers:
            write.delete_programs = self.trigger_set(write, "DELETE", None)

    def index_write(self, index: Index, write: TableWrite) -> IndexWrite:
        """How entries of an index are made that isn't in the table's list yet."""
        return index_write(index, write.source, self.derived_binding())

    # --- triggers ----------------------------------------------------------------------------------------------------------------

    def triggers(self, table: Table, event: str, assigned: set[str] | None) -> list[Trigger]:
        """The triggers of an event, in firing order; ``assigned``: folded names of the columns that an UPDATE sets."""
        found = []
        for trigger in self.context.catalogs.triggers_of(table):
            if trigger.event != event:
                continue
            if trigger.columns and assigned is not None and not any(name.lower() in assigned for name in trigger.columns):
                continue
            found.append(trigger)
        return found

    def trigger_set(self, write: TableWrite, event: str, assigned: set[str] | None) -> TriggerSet:
        """The programs of an event.  INSTEAD OF programs count as BEFORE."""
        before: list[Program] = []
        after: list[Program] = []
        for trigger in self.triggers(write.table, event, assigned):
            program = resolve("sqlvec.plan.trigger_program:trigger_program")(self, trigger, write)
            (after if trigger.timing == "AFTER" else before).append(program)
        return TriggerSet(tuple(before), tuple(after))


def index_write(index: Index, source: int, binding: Binding) -> IndexWrite:
    """How entries of an index are made from row images of ``source``."""
    bound = schema_expr.bind_index_expressions(index, source, binding)
    expressions: list[Expression] = []
    positions: list[int] = []
    real: list[int] = []
    alias = index.table.rowid_column
    for place, (field, expression) in enumerate(zip(index.columns, bound, strict=True)):
        if expression is not None:
            positions.append(-2 - len(expressions))
            expressions.append(expression)
            continue
        positions.append(-1 if field.column == alias else field.column)
        if field.column >= 0 and index.table.columns[field.column].affinity == REAL:
            real.append(place)
    write = IndexWrite(index, tuple(positions), tuple(expressions), schema_expr.bind_index_condition(index, source, binding))
    write.real = tuple(real)
    return write


def columns_read(expressions: tuple[Expression, ...], source: int) -> set[int]:
    """Columns of ``source`` that the expressions read."""
    return {number for expression in expressions for owner, number in columns_of(expression) if owner == source}


def table_write(table: Table, context: Any) -> TableWrite:
    """The TableWrite of one table by itself (integrity checks, index building)."""
    return WriteBinder(context).table_write(table)
