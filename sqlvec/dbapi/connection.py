"""Connection of PEP 249 in the shape of the standard ``sqlite3`` module, over a Session."""
from __future__ import annotations

import threading

from sqlvec import errors
from sqlvec.dbapi.cursor import Cursor
from sqlvec.dbapi.exceptions import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
    translate,
)
from sqlvec.resolve import resolve
from sqlvec.session.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from sqlvec.session.statement import Statement

LEVELS = ("", "DEFERRED", "IMMEDIATE", "EXCLUSIVE")


class Connection:
    """One database connection.  As a context manager it commits on success and rolls back on an exception (and stays open)."""

    Warning = Warning
    Error = Error
    InterfaceError = InterfaceError
    DatabaseError = DatabaseError
    DataError = DataError
    OperationalError = OperationalError
    IntegrityError = IntegrityError
    InternalError = InternalError
    ProgrammingError = ProgrammingError
    NotSupportedError = NotSupportedError

    def __init__(self, database: Any, timeout: float = 5.0, detect_types: int = 0, isolation_level: str | None = "",
                 check_same_thread: bool = True, cached_statements: int = 128, uri: bool = False) -> None:
        if hasattr(database, "__fspath__"):
            database = database.__fspath__()
        if isinstance(database, bytes):
            database = database.decode("utf-8", "surrogateescape")
        self._thread = threading.get_ident() if check_same_thread else 0
        self._detect_types = detect_types
        self._cache: dict[str, Statement] = {}
        self._cache_size = cached_statements
        self._isolation_level: str | None = None
        self.isolation_level = isolation_level
        self.row_factory: Callable[..., Any] | None = None
        self.text_factory: Callable[..., Any] = str
        self._closed = False
        try:
            self._session = Session.open(database, uri=uri)
        except errors.SqlError as error:
            raise translate(error) from None
        self._session.settings.busy_timeout = int(timeout * 1000)

    # --- state ----------------------------------------------------------------------------------------------------------------------------

    def _check_thread(self) -> None:
        if self._thread and self._thread != threading.get_ident():
            raise ProgrammingError(
                "SQLite objects created in a thread can only be used in that same thread. The object was created in thread id "
                f"{self._thread} and this is thread id {threading.get_ident()}.")

    def _check(self) -> None:
        if self._closed:
            raise ProgrammingError("Cannot operate on a closed database.")
        if self._thread and self._thread != threading.get_ident():
            self._check_thread()

    @property
    def isolation_level(self) -> str | None:
        return self._isolation_level

    @isolation_level.setter
    def isolation_level(self, level: str | None) -> None:
        if level is None:
            self._isolation_level = None
            if not getattr(self, "_closed", True):
                self.commit()
            return
        if not isinstance(level, str):
            raise TypeError(f"isolation_level must be str or None, not {type(level).__name__}")
        if level.upper() not in LEVELS:
            raise ValueError("isolation_level string must be '', 'DEFERRED', 'IMMEDIATE', or 'EXCLUSIVE'")
        self._isolation_level = level.upper()

    @property
    def in_transaction(self) -> bool:
        return not self._session.transaction.autocommit

    @property
    def total_changes(self) -> int:
        self._check()
        return self._session.transaction.total_changes

    # --- statement cache ------------------------------------------------------------------------------------------------------------------

    def _checkout(self, sql: str) -> Statement | None:
        """A statement for ``sql``, from the cache when it isn't in use: one cursor at a time has it."""
        statement = self._cache.pop(sql, None)
        if statement is not None:
            return statement
        if "\0" in sql:
            raise ProgrammingError("the query contains a null character")
        try:
            statement, end = self._session.prepare(sql)
            if statement is not None and end < len(sql) and sql[end:].strip() and self._session.prepare(sql, end)[0] is not None:
                raise ProgrammingError("You can only execute one statement at a time.")
        except errors.SqlError as error:
            raise translate(error) from None
        return statement

    def _give_back(self, sql: str, statement: Statement) -> None:
        if self._cache_size and not self._closed and not hasattr(statement, "text_values"):
            # (One with text_values serves many texts and is kept by the session.)
            self._cache[sql] = statement
            if len(self._cache) > self._cache_size:
                self._cache.pop(next(iter(self._cache)))

    # --- PEP 249 --------------------------------------------------------------------------------------------------------------------------

    def cursor(self, factory: Callable[[Connection], Any] = Cursor) -> Any:
        self._check()
        made = factory(self)
        if not isinstance(made, Cursor):
            raise TypeError(f"factory must return a cursor, not {type(made).__name__}")
        return made

    def execute(self, sql: str, parameters: Any = (), /) -> Any:
        return self.cursor().execute(sql, parameters)

    def executemany(self, sql: str, rows: Iterable[Any], /) -> Any:
        return self.cursor().executemany(sql, rows)

    def executescript(self, script: str, /) -> Any:
        return self.cursor().executescript(script)

    __call__ = _checkout

    def commit(self) -> None:
        self._check()
        if not self._session.transaction.autocommit:
            self._call(self._session.transaction.commit)

    def rollback(self) -> None:
        self._check()
        if not self._session.transaction.autocommit:
            self._call(self._session.transaction.rollback)

    def close(self) -> None:
        if not self._closed:
            self._check_thread()
            self._closed = True
            self._cache.clear()
            self._call(self._session.close)

    def __enter__(self) -> Connection:
        self._check()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            try:
                self.commit()
            except BaseException:
                self.rollback()
                raise
        else:
            self.rollback()

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except errors.SqlError as error:
            raise translate(error) from None

    # --- extensions of the standard module ---------------------------------------------------------------------------------------------

    def interrupt(self) -> None:
        self._session.set_interrupt()

    def create_function(self, name: str, narg: int, func: Callable[..., Any] | None, *, deterministic: bool = False) -> None:
        self._check()
        wrapped = None if func is None else resolve("sqlvec.dbapi.user_functions:scalar")(func)
        self._session.functions.define_scalar(name, narg, wrapped, 0x800 if deterministic else 0)

    def create_aggregate(self, name: str, n_arg: int, aggregate_class: Any, /) -> None:
        self._check()
        wrapped = None if aggregate_class is None else resolve("sqlvec.dbapi.user_functions:aggregate")(aggregate_class)
        self._session.functions.define_aggregate(name, n_arg, wrapped)

    def create_window_function(self, name: str, num_params: int, aggregate_class: Any, /) -> None:
        self._check()
        wrapped = None if aggregate_class is None else resolve("sqlvec.dbapi.user_functions:aggregate")(aggregate_class)
        self._session.functions.define_aggregate(name, num_params, wrapped, True)

    def create_collation(self, name: str, callable: Callable[[str, str], int] | None, /) -> None:
        self._check()
        self._session.collations.register(name, callable)
        self._session.settings.changed()

    def set_authorizer(self, authorizer_callback: Any) -> None:
        self._check()
        self._session.authorize = authorizer_callback
        self._session.settings.changed()

    def set_trace_callback(self, trace_callback: Any) -> None:
        self._check()
        self._session.trace = trace_callback

    def set_progress_handler(self, progress_handler: Any, n: int) -> None:
        self._check()
        self._session.progress = (progress_handler, n) if progress_handler else None  # type: ignore[attr-defined]

    def enable_load_extension(self, enable: bool, /) -> None:
        self._check()

    def load_extension(self, name: str, /) -> None:
        self._check()
        raise OperationalError("not authorized")

    def iterdump(self) -> Iterator[str]:
        """The database as SQL text, a statement at a time."""
        self._check()
        return resolve("sqlvec.dbapi.dump:iterdump")(self)  # type: ignore[no-any-return]

    def backup(self, target: Connection, *, pages: int = -1, progress: Any = None, name: str = "main", sleep: float = 0.250) -> None:
        """Copy this database into ``target``."""
        self._check()
        target._check()
        self._call(resolve("sqlvec.session.backup:backup"), self._session, name, target._session, "main")
        if progress is not None:
            progress(101, 0, self._session.databases[0].pager.page_count)

    def blobopen(self, table: str, column: str, row: int, /, *, readonly: bool = False, name: str = "main") -> Any:
        """Open a BLOB for incremental reading and writing."""
        self._check()
        return self._call(resolve("sqlvec.dbapi.blob:Blob"), self, table, column, row, readonly, name)

    def serialize(self, *, name: str = "main") -> bytes:
        """The bytes of the database file."""
        self._check()
        return self._call(resolve("sqlvec.session.backup:serialize"), self._session, name)  # type: ignore[no-any-return]

    def getlimit(self, category: int, /) -> int:
        return int(self._session.limits.get(str(category), -1))


def connect(database: Any, timeout: float = 5.0, detect_types: int = 0, isolation_level: str | None = "", check_same_thread: bool = True,
            factory: type[Connection] = Connection, cached_statements: int = 128, uri: bool = False) -> Connection:
    """Open a connection to ``database`` (a path, ``":memory:"``, or with ``uri=True`` a ``file:`` name)."""
    return factory(database, timeout, detect_types, isolation_level, check_same_thread, cached_statements, uri)
