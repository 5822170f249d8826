"""The life of one statement: prepared -> running -> done, with its locks, frames and counters.

A statement is either *planned* (SELECT, INSERT, UPDATE, DELETE and EXPLAIN of them: plan, then exec.run) or a *command* (everything else:
a handler from commands/table.py).  Both run inside the same bracket::

    begin    read locks; schema cookies checked under them (a stale plan is made anew); write locks; statement frame
    rows     the generator of exec.run, or the handler's rows
    end      frame released (or rolled back on error), counters, autocommit

Invariants
1. Between ``begin`` and ``end`` the statement is counted in ``transaction.active_reads`` or ``active_writes`` exactly once.
2. A failed statement leaves no trace of its writes (ABORT), unless its conflict action says FAIL or ROLLBACK.
3. ``step`` after an error or after the last row starts anew.

Follows "sqlite3_step()", "sqlite3_prepare()" and "ON CONFLICT" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from sqlvec.session.session import Session

PLANNED = ("Select", "Insert", "Update", "Delete")
RETRIES = 50
NAMED_FIRST = ("CreateTable", "CreateView", "CreateVirtualTable")    # SQLite judges the name before it reads a schema
COMPILED = ("Create", "Drop", "Alter", "Analyze", "Reindex", "Pragma")     # commands whose errors SQLite finds while preparing
WRITES, SCHEMA = 1, 2              # flags of commands/table.py
ROLLS_BACK = (errors.IOERR, errors.FULL, errors.NOMEM, errors.INTERRUPT)


class Statement:
    """A prepared statement.  ``names``: result column names (None-free tuple; empty for statements without rows); ``parameters``: the name of each
    parameter or None for ``?``; ``is_readonly``."""

    __slots__ = (
        "_counted",
        "_frame",
        "_names",
        "_rows",
        "_values",
        "entry",
        "explain",
        "is_command",
        "is_ignored",
        "is_readonly",
        "is_write",
        "parameters",
        "place",
        "plan",
        "session",
        "sql",
        "tree",
    )

    def __init__(self, session: Session, tree: Any, sql: str) -> None:
        self.session = session
        self.tree = tree
        self.sql = sql
        self.plan: Any = None
        self.entry: Any = None
        self.place = (0, len(sql))     # where in ``sql`` its text is
        self.explain: str | None = None
        self._rows: Iterator[tuple[Any, ...]] | None = None
        self._values: tuple[Any, ...] = ()
        self._names: tuple[str, ...] = ()
        self._counted = ""             # which counter of the transaction this run is in: reads | writes | nothing
        self._frame: Any = None
        self.parameters: list[str | None] = []
        self.is_write = False
        self.is_ignored = False        # an authorizer wants it to do nothing
        kind = type(tree).__name__
        if kind == "Explain":
            self.explain = "QUERY PLAN" if tree.query_plan else "EXPLAIN"
            self.tree = tree = tree.statement
            kind = type(tree).__name__
        self.is_command = kind not in PLANNED
        try:
            if self.is_command:
                self._prepare_command(kind)
            else:
                self._prepare_plan()
        except errors.Ignored:
            self.is_ignored = True
        self.is_readonly = not self.is_write

    # --- preparing ----------------------------------------------------------------------------------------------------------------------

    def _prepare_command(self, kind: str) -> None:
        self.entry = resolve("sqlvec.commands.table:COMMANDS")[kind]
        self.is_write = bool(self.entry[1] & WRITES)
        if self.session.authorize is not None:
            resolve("sqlvec.session.authorize:ask")(self.session, self.tree)

    def _prepare_plan(self) -> None:
        self.plan = self._guard(self._make_plan)
        self._names = self.plan.names
        self.parameters = self.plan.parameters
        most = self.session.limits.get("SQLITE_LIMIT_VARIABLE_NUMBER")
        if most is not None and len(self.parameters) > most:
            raise errors.plain("too many SQL variables")
        self.is_write = bool(self.plan.writes)
        if self.explain is not None:
            self._names = resolve("sqlvec.session.explain:NAMES")[self.explain]

    def _make_plan(self) -> Any:
        context = self.session.plan_context()
        context.explain = self.explain
        return resolve("sqlvec.plan.planner:plan_statement")(self.tree, context)

    def _guard(self, prepare: Any) -> Any:
        """Prepare; on an error look whether a Catalog was stale and try once more.

        A name error while no schema was ever read carries SQLITE_SCHEMA as its code, as in SQLite (it could not tell whether the schema is current)."""
        databases = self.session.databases
        try:
            return prepare()
        except errors.SqlError as error:
            if error.code != errors.ERROR or not error.message.startswith(("no such ", "ambiguous ", "unable to ", "table ")):
                raise
            if databases.forget_stale():
                return prepare()
            if databases[0].loaded is None and error.message.startswith("no such column"):
                if self._file_has_schema():
                    raise errors.SqlError(errors.SCHEMA, error.message, offset=error.offset) from None
            raise

    def _file_has_schema(self) -> bool:
        pager = self.session.databases[0].pager
        pager.begin_read()
        try:
            return pager.schema_cookie != 0
        finally:
            pager.end_read()

    # --- binding -------------------------------------------------------------------------------------------------------------------------

    def bind(self, values: tuple[Any, ...]) -> None:
        """Set all parameter values (by position); unbound ones are NULL."""
        self._values = tuple(values)

    @property
    def names(self) -> tuple[str, ...]:
        """Result column names; for commands known after the first step."""
        return self._names

    @property
    def declared_types(self) -> tuple[str | None, ...]:
        return self.plan.declared_types if self.plan is not None and self.explain is None else ()

    # --- running -------------------------------------------------------------------------------------------------------------------------

    def step(self) -> tuple[Any, ...] | None:
        """The next row, or None when the statement is done (it is then reset)."""
        if self._rows is None:
            self._rows = self._run()
        try:
            return next(self._rows)
        except StopIteration:
            self._rows = None
            return None
        except BaseException:
            self._rows = None
            raise

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        while True:
            row = self.step()
            if row is None:
                return
            yield row

    def execute_many(self, rows: Iterable[tuple[Any, ...]]) -> int:
        """Run a writing statement without RETURNING once per row of parameter values; the number of changed rows.

        Plain INSERTs inside a transaction are run in one bracket: each is atomic by itself, so this is the same as running them one by one."""
        transaction = self.session.transaction
        total = 0
        rows = iter(rows)
        while True:
            if not transaction.autocommit and self.plan is not None and getattr(self.plan.root, "is_atomic", False) and self.explain is None:
                count, left = self._insert_many(rows)
                total += count
                if left is None:
                    return total
            else:
                left = next(rows, None)
                if left is None:
                    return total
            self.bind(left)
            if self.step() is not None:
                raise errors.misuse()
            total += transaction.changes

    def _insert_many(self, rows: Iterator[tuple[Any, ...]]) -> tuple[int, tuple[Any, ...] | None]:
        """Store rows as long as they are plain: (how many, the first that is not, or None at the end)."""
        session = self.session
        transaction = session.transaction
        count = 0
        left = rowid = None
        transaction.active_writes += 1
        try:
            plan = self._current_plan()
            if session.settings.query_only or session.settings.count_changes or not plan.root.is_atomic or session.trace is not None:
                return 0, next(rows, None)
            for number in plan.writes:
                transaction.begin_write(number)
            insert = resolve("sqlvec.exec.dml.insert:batch")(plan.root, session.run_context())
            if insert is None:
                return 0, next(rows, None)
            for row in rows:
                stored = insert(row)
                if stored is None:
                    left = row
                    break
                rowid = stored
                count += 1
        except BaseException:
            if transaction.is_writing and any(database.pager.failed for _, database in session.databases.opened()):
                transaction.rollback_all()
            raise
        finally:
            transaction.active_writes -= 1
            if count:
                transaction.last_insert_rowid = rowid  # type: ignore[assignment]
                transaction.changes = 1
                transaction.total_changes += count
        return count, left

    def reset(self) -> None:
        """Stop a running statement: its generator is closed, its locks are given back."""
        rows = self._rows
        self._rows = None
        if rows is not None:
            rows.close()  # type: ignore[attr-defined]

    def close(self) -> None:
        self.reset()

    def _run(self) -> Iterator[tuple[Any, ...]]:
        if self.is_ignored:
            return iter(())
        if self.explain is not None:
            if self.session.trace is not None:
                self.session.trace(self)
            return (row for row in resolve("sqlvec.session.explain:rows")(self))
        return self._bracket(self._command_rows if self.is_command else self._plan_rows)

    def _bracket(self, body: Any) -> Iterator[tuple[Any, ...]]:
        transaction = self.session.transaction
        session = self.session
        session.function_context.new_statement()
        if not (transaction.active_reads or transaction.active_writes):
            session.interrupt[0] = False
        if session.trace is not None:
            session.trace(self)
        if self.is_write:
            transaction.active_writes += 1
            self._counted = "writes"
        else:
            transaction.active_reads += 1
            self._counted = "reads"
        session.running.append(self)
        self._frame = None
        try:
            if session.progress is not None:
                session.progress.begin()
            yield from body()
        except GeneratorExit:
            self._leave()
            transaction.end_statement()
            raise
        except errors.SqlError as error:
            self._leave()
            self._undo(error)
            raise
        except BaseException:
            self._leave()
            if self.is_write and transaction.is_writing:
                transaction.rollback_all()
            raise
        self._leave()
        transaction.end_statement()

    def expanded_text(self) -> str:
        """Its text with the values of the parameters written in."""
        return str(resolve("sqlvec.session.hooks:expanded")(self.text(), self.parameters, self._values))

    def text(self) -> str:
        """Its text as written, from the end of the statement before to its ``;``."""
        return self.sql[self.place[0] : self.place[1]]

    def _leave(self) -> None:
        counted = self._counted
        self._counted = ""
        if counted:
            self.session.running.remove(self)
        if counted == "writes":
            self.session.transaction.active_writes -= 1
        elif counted:
            self.session.transaction.active_reads -= 1

    def becomes_write(self) -> None:
        """A command that was counted as a reader turns out to write (some pragmas)."""
        if self._counted == "reads":
            self.session.transaction.active_reads -= 1
            self.session.transaction.active_writes += 1
            self._counted = "writes"
        self.is_write = True

    def _undo(self, error: errors.SqlError) -> None:
        """Undo a failed statement as its conflict action says, and in autocommit mode end its transaction."""
        transaction = self.session.transaction
        frame = self._frame
        self._frame = None
        if error.action == "ROLLBACK" or (error.code in ROLLS_BACK and self.is_write and transaction.is_writing and error.extended != errors.BUSY):
            if not transaction.autocommit or transaction.is_writing:
                transaction.rollback_all()
            return
        if frame is not None and frame in transaction.frames:
            if error.action != "FAIL":
                transaction.rollback_frame(frame)
            transaction.release_frame(frame)
        if transaction.autocommit:
            if error.action == "FAIL":
                transaction.end_statement()
            elif self.is_write and transaction.active_writes == 0 and transaction.is_writing:
                transaction.rollback_all()
            else:
                transaction.end_statement()

    def _plan_rows(self) -> Iterator[tuple[Any, ...]]:
        session = self.session
        transaction = session.transaction
        plan = self._current_plan()
        context = session.run_context(self._values)
        execute = resolve("sqlvec.exec.run:execute")
        if not plan.writes:
            rollbacks = transaction.rollback_count
            for row in execute(plan, context):
                yield row
                if transaction.rollback_count != rollbacks:
                    self._check_after_rollback(plan)
                    rollbacks = transaction.rollback_count
            return
        if session.settings.query_only:
            raise errors.readonly()
        for number in plan.writes:
            transaction.begin_write(number)
        if plan.root.uses_frame:
            self._frame = transaction.open_frame(None)
        rows = execute(plan, context)
        first = next(rows, None)
        if self._frame is not None:
            transaction.release_frame(self._frame)
            self._frame = None
        if first is not None:
            yield first
            yield from rows

    def _check_after_rollback(self, plan: Any) -> None:
        for number in plan.databases:
            if plan.cookies.get(number) != self.session.databases[number].pager.schema_cookie:
                raise errors.SqlError(errors.ABORT, "abort due to ROLLBACK", errors.ABORT_ROLLBACK)

    def _current_plan(self) -> Any:
        """The plan, made anew while schema or settings differ from those it was made under; read locks are held afterwards."""
        session = self.session
        databases = session.databases
        for _ in range(RETRIES):
            plan = self.plan
            for number in plan.databases:
                # a writer takes its lock before it has read anything: only then may it wait for others
                if number in plan.writes and not session.settings.query_only:
                    session.transaction.begin_write(number)
                else:
                    session.transaction.begin_read(number)
            if plan.generation == session.settings.generation + session.functions.generation and all(
                databases[number].pager.schema_cookie == cookie for number, cookie in plan.cookies.items()
            ):
                return plan
            databases.forget_stale()
            try:
                self.plan = self._make_plan()
            except errors.SqlError as error:
                error.phase = "step"            # it was prepared well, under the schema of then
                raise
            self._names = self.plan.names
        raise errors.SqlError(errors.SCHEMA, "database schema has changed")

    def _command_rows(self) -> Iterator[tuple[Any, ...]]:
        session = self.session
        context = session.command_context()
        context.statement = self
        if self.entry[1] & SCHEMA:
            session.databases.forget_stale()
        if type(self.tree).__name__.startswith(COMPILED[:-1]) and type(self.tree).__name__ not in NAMED_FIRST:
            session.databases.read_schema(0)
        if self.entry[1] & WRITES:
            if session.settings.query_only:
                raise errors.readonly()
            self._frame = session.transaction.open_frame(None)
        command = resolve(self.entry[0])
        try:
            if session.authorize is None or getattr(self.tree, "as_select", None) is not None:
                result = command(context, self.tree, self.sql)
            else:
                result = session.quietly(command, context, self.tree, self.sql)
        except errors.SqlError as error:
            if not error.phase and error.code == errors.ERROR and type(self.tree).__name__.startswith(COMPILED):
                error.phase = "prepare"
            raise
        if result is not None:
            names, rows = result
            self._names = tuple(names)
            yield from rows
        if self._frame is not None:
            if self._frame in session.transaction.frames:
                session.transaction.release_frame(self._frame)
            self._frame = None
