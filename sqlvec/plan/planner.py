"""From a statement's AST to its physical plan: bind, rewrite, choose access paths, lower.

``plan_statement`` is the one door.  SELECT is planned here, INSERT, UPDATE and DELETE in plan/dml.py, which uses the same binder and lowering.

When binding fails on a name, a second look goes over the whole statement for what the real one reports first: missing tables anywhere in it.

Follows "The Next-Generation Query Planner" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.plan.scope import Binding, Frame
from sqlvec.plan.select import bind_select
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlvec.functions.registry import FunctionRegistry
    from sqlvec.parse import ast
    from sqlvec.plan.logical import Query
    from sqlvec.plan.physical import Plan
    from sqlvec.schema.catalog import CatalogSet
    from sqlvec.settings import Settings

_DML = {"Insert": "sqlvec.plan.dml:plan_insert", "Update": "sqlvec.plan.dml:plan_update", "Delete": "sqlvec.plan.dml:plan_delete"}


class PlanContext:
    """What planning may know of the connection.

    ``authorize(action, first, second, schema, inner) -> 0 | 1 | 2`` is asked for each column read (20), SELECT (21) and function (31); ``on_resolve(name,
    table, column number or None, access)`` hears of every name that was resolved; ``connect_vtab(database, name)`` gives the VirtualTable of a stored or
    eponymous virtual table, or None; ``collation_exists(name)``; ``explain``: SELECT numbers are wanted."""

    __slots__ = ("authorize", "catalogs", "collation_exists", "connect_vtab", "explain", "functions", "on_resolve", "settings")

    def __init__(self, catalogs: CatalogSet, functions: FunctionRegistry, settings: Settings,
                 collation_exists: Callable[[str], bool] | None = None, authorize: Any = None, on_resolve: Any = None,
                 connect_vtab: Any = None) -> None:
        self.catalogs = catalogs
        self.functions = functions
        self.settings = settings
        self.collation_exists = collation_exists
        self.authorize = authorize
        self.on_resolve = on_resolve
        self.connect_vtab = connect_vtab
        self.explain: str | None = None


def plan_statement(statement: ast.Statement, context: PlanContext) -> Plan:
    """The plan of a SELECT, INSERT, UPDATE or DELETE."""
    kind = type(statement).__name__
    try:
        if kind in _DML:
            return resolve(_DML[kind])(statement, context)  # type: ignore[no-any-return]
        return plan_select(statement, context)  # type: ignore[arg-type]
    except errors.SqlError as error:
        if error.code == errors.ERROR and not error.message.startswith("no such table"):
            resolve("sqlvec.plan.error_order:raise_earlier")(statement, context)
        raise


def new_binding(statement: ast.Statement, context: PlanContext) -> Binding:
    """The Binding of a whole statement, with SELECT numbers where they will be printed."""
    binding = Binding(context)
    if context.explain:
        resolve("sqlvec.plan.select_numbers:number_selects")(statement, binding)
    return binding


def plan_select(statement: ast.Select, context: PlanContext) -> Plan:
    """The plan of a SELECT."""
    binding = new_binding(statement, context)
    query = bind_select(statement, binding, None, Frame(None))
    return finish_plan(query, binding, statement)


def finish_plan(query: Query, binding: Binding, statement: ast.Statement) -> Plan:
    """Rewrite and lower a bound query into a Plan."""
    lowering = resolve("sqlvec.plan.lower:Lowering")(binding)
    node = lowering.lower_statement(query)
    plan = resolve("sqlvec.plan.physical:Plan")(node, query.names)
    if any(type(result).__name__ in ("Column", "ScalarSubquery") for result in query.results()):
        plan.declared_types = resolve("sqlvec.plan.declared_types:declared_types")(query)
    else:
        plan.declared_types = (None,) * len(query.names)
    complete_plan(plan, binding, statement)
    return plan  # type: ignore[no-any-return]


def complete_plan(plan: Plan, binding: Binding, statement: ast.Statement) -> None:
    """Fill in what a plan records about its making: parameters, slots, sub-queries, databases, cookies, generation."""
    context = binding.context
    names = getattr(statement, "parameter_names", None) or {}
    plan.parameters = [names.get(number + 1) for number in range(getattr(statement, "parameter_count", 0) or 0)]
    plan.slots = binding.statement.next_slot
    plan.subqueries = sorted(binding.subqueries, key=lambda subquery: subquery.number)
    plan.databases = frozenset(binding.databases)
    plan.cookies = {number: context.catalogs[number].cookie for number in binding.databases}
    plan.generation = context.settings.generation + context.functions.generation
    plan.explain = context.explain
    plan.next_number = binding.statement.next_number
