"""A session: one connection's state, and the door through which the shell, the module and nested SQL prepare statements.

Everything that lower layers need is made here and handed down: settings, function registry, collations, databases, transaction, modules.
The rules of a single statement's life are in session/statement.py.

Follows "An Introduction To The SQLite C/C++ Interface" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.database.database_set import DatabaseSet
from sqlvec.database.transaction import Transaction
from sqlvec.exec.context import RunContext
from sqlvec.functions.registry import FunctionContext, FunctionRegistry
from sqlvec.parse.parser import parse_statement
from sqlvec.resolve import resolve
from sqlvec.session.statement import Statement
from sqlvec.settings import Settings
from sqlvec.values.compare import Collations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.vtab.api import ModuleRegistry

MEMORY_NAMES = ("", ":memory:")


class Session:
    """One connection.  ``path`` None, "" or ":memory:" is a private memory database; ``file:`` names are URIs when ``uri`` is set.

    Errors of ``open``: "unable to open database file"."""

    def __init__(self) -> None:
        self.settings = Settings()
        self.functions = FunctionRegistry()
        self.collations = Collations()
        self.extra_modules: dict[str, str] = {}         # modules beside the built-in ones: name -> "module:attribute"
        self._modules: ModuleRegistry | None = None
        self.databases = DatabaseSet(self.settings, self.collations)
        self.transaction = Transaction(self.databases)
        self.function_context = FunctionContext(self.collations)
        transaction = self.transaction
        self.function_context.changes = lambda: transaction.changes
        self.function_context.total_changes = lambda: transaction.total_changes
        self.function_context.last_insert_rowid = lambda: transaction.last_insert_rowid
        self.function_context.run_sql = self.run
        self.interrupt = [False]
        self.authorize: Any = None
        self.virtual_tables: dict[Any, Any] = {}       # (database, table name) -> connected VirtualTable
        self.limits = self.settings.limits
        self.running: list[Statement] = []             # statements between begin and end, oldest first
        self.is_closed = False
        self.trace: Any = None                         # called with each Statement that begins
        self.progress: Any = None                      # the ProgressFlag that ``interrupt`` then is, see session/hooks.py
        self.measures: Any = None                      # set while PRAGMA sqlvec_analyze runs its statement
        self.literal_inserts: dict[Any, Any] = {}      # shape -> kept statement, see session/literal_inserts.py

    @classmethod
    def open(cls, path: str | None, *, readonly: bool = False, uri: bool = False, immutable: bool = False, create: bool = True) -> Session:
        """Open a connection.  The file itself is opened now, read at the first statement that needs it."""
        session = cls()
        options: dict[str, Any] = {"readonly": readonly, "immutable": immutable, "create": create}
        if uri and path is not None and path.startswith("file:"):
            path, options = resolve("sqlvec.session.uri:parse_uri")(path, options)
        if path is None or path in MEMORY_NAMES:
            path = None
            options = {}
        session.databases.open_main(path, **options)
        session.databases.busy = session._busy
        if path is not None:
            _ = session.databases[0].pager
        return session

    def _busy(self, count: int) -> bool:
        if self.settings.busy_timeout <= 0:
            return False
        return bool(resolve("sqlvec.session.busy:wait")(self.settings.busy_timeout, count))

    @property
    def modules(self) -> ModuleRegistry:
        """The virtual-table modules (made at first use)."""
        if self._modules is None:
            self._modules = resolve("sqlvec.vtab.api:ModuleRegistry")()
            self._modules.fallback = _pragma_module
            for name, target in self.extra_modules.items():
                self._modules.register(name, target)
        return self._modules

    # --- statements ---------------------------------------------------------------------------------------------------------------------

    def prepare(self, sql: str, start: int = 0) -> tuple[Statement | None, int]:
        """Compile the statement that begins at ``start``; also the offset just behind it.  (None, end) for blanks and comments only."""
        if self.is_closed:
            raise errors.misuse()
        first = start
        while sql[start : start + 1].isspace():
            start += 1
        if sql[start : start + 1] in ("I", "i", "R", "r"):
            known = resolve("sqlvec.session.literal_inserts:prepare")(self, sql, start)
            if known is not None:
                return known
        try:
            tree, end = parse_statement(sql, start)
        except errors.SqlError as error:
            if error.offset and error.message.startswith("near ") and self.databases[0].loaded is None and sql[start : start + 6].lower() == "select":
                self._mark_unread_schema(error, sql[start : error.offset])
            raise
        if tree is None:
            return None, end
        made = Statement(self, tree, sql)
        made.place = (first, end)
        return made, end

    def _mark_unread_schema(self, error: errors.SqlError, before: str) -> None:
        """SQLite compiles a SELECT as soon as it is whole, though the next token be wrong: a name that isn't found then marks the error."""
        try:
            self.prepare(before)
        except errors.SqlError as earlier:
            if earlier.code == errors.SCHEMA:
                error.code = errors.SCHEMA

    def execute(self, sql: str, parameters: tuple[Any, ...] = ()) -> Statement:
        """Prepare the first statement of ``sql`` and bind ``parameters``; the caller steps it."""
        statement, _ = self.prepare(sql)
        if statement is None:
            raise errors.misuse()
        statement.bind(parameters)
        return statement

    def run(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Run all statements of ``sql`` (parameters go to each) and return the rows of the last one."""
        rows: list[tuple[Any, ...]] = []
        position = 0
        while position < len(sql):
            statement, position = self.prepare(sql, position)
            if statement is None:
                break
            statement.bind(parameters[: len(statement.parameters)])
            rows = list(statement)
        return rows

    def plan_context(self) -> Any:
        """What the planner may know of this connection."""
        context = resolve("sqlvec.plan.planner:PlanContext")
        return context(self.databases.catalogs, self.functions, self.settings, self._collation_exists, self.authorize, None, self.connect_table)

    def _collation_exists(self, name: str) -> bool:
        return self.collations.lookup(name) is not None

    def run_context(self, parameters: tuple[Any, ...] = ()) -> RunContext:
        context = RunContext(self.databases, self.transaction, self.settings, self.functions, self.collations, self.function_context, parameters)
        context.interrupt = self.interrupt
        context.nested_sql = self.nested
        context.session = self
        context.measures = self.measures
        return context

    def nested(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Run SQL inside the running statement (upcall of commands and modules)."""
        return resolve("sqlvec.session.nested_sql:run")(self, sql, parameters)

    def connect_table(self, database: int, name: str) -> Any:
        """The connected VirtualTable of a stored or eponymous virtual table; None where there is no such module (upcall of the planner)."""
        return resolve("sqlvec.session.virtual_tables:connect")(self, database, name)

    def command_context(self) -> Any:
        return resolve("sqlvec.commands.context:CommandContext")(
            self.databases, self.transaction, self.settings, self.functions, self.collations, self.nested, self.run_context, self.plan_context, self)

    def limit(self, name: str) -> int:
        """The value of a run-time limit."""
        found = self.limits.get(name)
        return int(resolve("sqlvec.session.hooks:LIMITS")[name] if found is None else found)

    def set_limit(self, name: str, value: int) -> int:
        """Set a run-time limit, at most to the one built in (negative: leave it); the value before."""
        before = self.limit(name)
        if value >= 0:
            self.limits[name] = min(value, resolve("sqlvec.session.hooks:MOST")[name])
        return before

    def analyze(self, sql: str, parameters: tuple[Any, ...] = ()) -> Any:
        """Run a statement and tell what each part of its plan did: session.analyze.Analysis."""
        return resolve("sqlvec.session.analyze:analyze")(self, sql, parameters)

    def quietly(self, function: Any, *arguments: Any) -> Any:
        """Call ``function`` while nobody is asked or told about statements (work that SQLite does without SQL)."""
        hooks = self.trace, self.authorize
        self.trace = self.authorize = None
        try:
            return function(*arguments)
        finally:
            self.trace, self.authorize = hooks

    def set_interrupt(self) -> None:
        self.interrupt[0] = True

    def set_progress(self, handler: Any, every: int) -> None:
        """Have ``handler`` called about every so many units of work (None: no more); running statements keep the one they began with."""
        if handler is None or every < 1:
            self.progress = None
            self.interrupt = [False]
        else:
            self.progress = self.interrupt = resolve("sqlvec.session.hooks:ProgressFlag")(False, handler, every)

    def close(self) -> None:
        """Roll back what is open and close the files."""
        if self.is_closed:
            return
        self.is_closed = True
        if not self.transaction.autocommit or self.transaction.is_writing:
            self.transaction.active_reads = self.transaction.active_writes = 0
            self.transaction.rollback_all()
        self.databases.close()


def _pragma_module(name: str) -> Any:
    """The module of a ``pragma_NAME`` table, or None."""
    return resolve("sqlvec.commands.pragma_tables:find_module")(name) if name.startswith("pragma_") else None
