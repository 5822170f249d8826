"""What a command may touch: the connection's files, transaction, settings and catalogs, and ways to run SQL and queries.

Commands are everything that isn't SELECT, INSERT, UPDATE or DELETE.  A command is ``function(context, statement, sql)``; ``sql`` is the text that the
spans of ``statement`` refer to.  It returns None, or (column names, iterable of rows).  The session makes one context per statement run.

After a schema change the new Catalog is installed through ``context.databases.install`` (see schema_write); a command that runs SQL through
``nested_sql`` looks tables up again afterwards.
"""
from __future__ import annotations

from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from sqlvec.database.database_set import DatabaseSet
    from sqlvec.database.transaction import Transaction
    from sqlvec.exec.context import RunContext
    from sqlvec.functions.registry import FunctionRegistry
    from sqlvec.parse import ast
    from sqlvec.plan.physical import Plan
    from sqlvec.schema.catalog import CatalogSet
    from sqlvec.settings import Settings
    from sqlvec.values.compare import Collations

    Result = tuple[tuple[str, ...], Iterable[tuple[Any, ...]]] | None


class CommandContext:
    """``nested_sql(sql, *parameters)`` runs a statement inside the current one and returns its rows; ``run_context()`` makes the RunContext of a plan;
    ``plan_context()`` the PlanContext for binding; ``session`` is for the commands that change the connection itself (ATTACH, VACUUM)."""

    __slots__ = (
        "collations", "databases", "functions", "nested_sql", "parameters", "plan_context", "run_context", "session", "settings", "statement",
        "transaction",
    )

    def __init__(
        self,
        databases: DatabaseSet,
        transaction: Transaction,
        settings: Settings,
        functions: FunctionRegistry,
        collations: Collations,
        nested_sql: Callable[..., list[tuple[Any, ...]]],
        run_context: Callable[[], RunContext],
        plan_context: Callable[[], Any],
        session: Any = None,
        parameters: tuple[Any, ...] = (),
    ) -> None:
        self.databases = databases
        self.transaction = transaction
        self.settings = settings
        self.functions = functions
        self.collations = collations
        self.nested_sql = nested_sql
        self.run_context = run_context
        self.plan_context = plan_context
        self.session = session
        self.parameters = parameters
        self.statement: Any = None          # the session's Statement that runs this command

    @property
    def catalogs(self) -> CatalogSet:
        return self.databases.catalogs

    def is_eponymous(self, name: str) -> bool:
        """Is ``name`` a virtual table that exists without having been created?"""
        return self.plan_context().connect_vtab(0, name) is not None

    def begin_write(self, number: int) -> None:
        """Make a database writable (its schema fields are set up when it is new)."""
        self.transaction.begin_write(number)

    def plan(self, statement: ast.Statement) -> Plan:
        """Plan a query or a row-changing statement."""
        return resolve("sqlvec.plan.planner:plan_statement")(statement, self.plan_context())  # type: ignore[no-any-return]

    def execute(self, plan: Plan) -> Iterator[tuple[Any, ...]]:
        """Run a plan."""
        return resolve("sqlvec.exec.run:execute")(plan, self.run_context())  # type: ignore[no-any-return]
