"""Connection of PEP 249 in the shape of the standard ``sqlite3`` module, over a Session."""
from __future__ import annotations

import os
import threading
from operator import index

from sqlvec import errors
from sqlvec.dbapi.callbacks import authorizer, collation, progress, trace
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

    _ready = False
    _closed = True
    _thread = 0
    _session: Any = None

    def __init__(self, database: Any, timeout: float = 5.0, detect_types: int = 0, isolation_level: str | None = "",
                 check_same_thread: bool = True, factory: Any = None, cached_statements: int = 128, uri: bool = False) -> None:
        if self._ready:
            self._ready = False
            self._cache.clear()
            if not self._session.running:       # else a cursor goes on reading it
                self._session.close()
        database = os.fsdecode(database)
        if "\0" in database:
            raise ValueError("embedded null byte")
        if isinstance(timeout, str):
            raise TypeError("must be real number, not str")
        self._detect_types = index(detect_types)
        self._cache: dict[str, Statement] = {}
        self._cache_size = index(cached_statements)
        self._isolation_level = _level(isolation_level)
        self._thread = threading.get_ident() if check_same_thread else 0
        self.row_factory: Callable[..., Any] | None = None
        self.text_factory: Any = str
        self._closed = False
        try:
            self._session = Session.open(database, uri=bool(uri))
        except errors.SqlError as error:
            raise translate(error, is_opening=True) from None
        self._session.settings.busy_timeout = int(timeout * 1000)
        self._ready = True

    # --- state ----------------------------------------------------------------------------------------------------------------------------

    def _check_thread(self) -> None:
        if self._thread and self._thread != threading.get_ident():
            raise ProgrammingError(
                "SQLite objects created in a thread can only be used in that same thread. The object was created in thread id "
                f"{self._thread} and this is thread id {threading.get_ident()}.")

    def _check(self) -> None:
        if self._thread and self._thread != threading.get_ident():
            self._check_thread()
        if self._closed or not self._ready:
            self._check_open()

    def _check_open(self) -> None:
        if not self._ready:
            raise ProgrammingError("Base Connection.__init__ not called.")
        if self._closed:
            raise ProgrammingError("Cannot operate on a closed database.")

    @property
    def isolation_level(self) -> str | None:
        self._check_open()
        return self._isolation_level

    @isolation_level.setter
    def isolation_level(self, level: str | None) -> None:
        if level is None:
            self._isolation_level = None
            self.commit()
            return
        self._isolation_level = _level(level)

    @property
    def in_transaction(self) -> bool:
        self._check_open()
        return not self._session.transaction.autocommit

    @property
    def total_changes(self) -> int:
        self._check_open()
        return int(self._session.transaction.total_changes)

    # --- statement cache ------------------------------------------------------------------------------------------------------------------

    def _checkout(self, sql: str) -> Statement | None:
        """A statement for ``sql``, from the cache when it isn't in use: one cursor at a time has it."""
        statement = self._cache.pop(sql, None)
        if statement is not None:
            return statement
        if not sql.isascii():
            sql.encode()
        session = self._session
        if "SQLITE_LIMIT_SQL_LENGTH" in session.limits and len(sql.encode()) > session.limits["SQLITE_LIMIT_SQL_LENGTH"]:
            raise DataError("query string is too large")
        if "\0" in sql:
            raise ProgrammingError("the query contains a null character")
        try:
            statement, end = session.prepare(sql)
        except errors.SqlError as error:
            raise translate(error) from None
        if statement is not None and end < len(sql) and not _is_blank(sql, end):
            raise ProgrammingError("You can only execute one statement at a time.")
        return statement  # type: ignore[no-any-return]

    def _give_back(self, sql: str, statement: Statement) -> None:
        if self._cache_size > 0 and not self._closed and not hasattr(statement, "text_values"):
            # (One with text_values serves many texts and is kept by the session.)
            self._cache[sql] = statement
            if len(self._cache) > self._cache_size:
                self._cache.pop(next(iter(self._cache)))

    # --- PEP 249 --------------------------------------------------------------------------------------------------------------------------

    def cursor(self, factory: Callable[[Connection], Any] = Cursor) -> Any:
        """A new cursor, or what ``factory`` makes of this connection."""
        self._check()
        made = factory(self)
        if not issubclass(type(made), Cursor):
            raise TypeError(f"factory must return a cursor, not {type(made).__name__}")
        if self.row_factory is not None:
            made.row_factory = self.row_factory
        return made

    def execute(self, sql: str, parameters: Any = (), /) -> Any:
        """``execute`` of a new cursor."""
        return self.cursor().execute(sql, parameters)

    def executemany(self, sql: str, rows: Iterable[Any], /) -> Any:
        """``executemany`` of a new cursor."""
        return self.cursor().executemany(sql, rows)

    def executescript(self, script: str, /) -> Any:
        """``executescript`` of a new cursor."""
        return self.cursor().executescript(script)

    def __call__(self, *arguments: str) -> Statement | None:
        """Prepare a statement (of no use to users, as in the standard module)."""
        self._check()
        if len(arguments) != 1:
            raise TypeError(f"function takes exactly 1 argument ({len(arguments)} given)")
        sql = arguments[0]
        if not isinstance(sql, str):
            raise TypeError(f"argument 1 must be str, not {type(sql).__name__}")
        return self._checkout(sql)

    def _has_hooks(self) -> bool:
        """Is anybody told about statements?  Transaction control then goes the long way."""
        return self._session.trace is not None or self._session.authorize is not None or self._session.progress is not None

    def _begin(self) -> None:
        """The BEGIN before a writing statement.  Errors: SqlError."""
        if self._has_hooks():
            self._session.run(f"BEGIN {self._isolation_level}")
        else:
            self._session.transaction.begin(self._isolation_level or "DEFERRED")

    def _end_transaction(self, how: str) -> None:
        """COMMIT or ROLLBACK.  Errors: SqlError."""
        if self._has_hooks():
            self._session.run(how)
        elif how == "COMMIT":
            self._session.transaction.commit()
        else:
            self._session.transaction.rollback()

    def __reduce__(self) -> Any:
        raise TypeError("cannot pickle 'sqlite3.Connection' object")

    def commit(self) -> None:
        """End the open transaction, if any."""
        self._check()
        if not self._session.transaction.autocommit:
            self._call(self._end_transaction, "COMMIT")

    def rollback(self) -> None:
        """Undo the open transaction, if any."""
        self._check()
        if not self._session.transaction.autocommit:
            self._call(self._end_transaction, "ROLLBACK")

    def close(self) -> None:
        """Roll back what is open and close the files."""
        self._check_thread()
        if not self._ready:
            raise ProgrammingError("Base Connection.__init__ not called.")
        if not self._closed:
            self._closed = True
            self._cache.clear()
            self._call(self._session.close)

    def __enter__(self) -> Connection:
        self._check_open()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any, /) -> Any:
        if kind is None and error is None and trace is None:
            try:
                self.commit()
            except BaseException:
                self.rollback()
                raise
        else:
            self.rollback()
        return False

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except errors.SqlError as error:
            raise translate(error) from None

    # --- functions and collations --------------------------------------------------------------------------------------------------------

    def _check_function(self, name: str, count: int, message: str) -> None:
        """Errors: TypeError, ``message`` for impossible names and numbers of arguments and while a statement runs."""
        _check_text(name)
        session = self._session
        known = session.functions.lookup(name, count) if session.running else None
        is_in_use = known is not None and (known.max_args if known.min_args == known.max_args else -1) == count
        if not -1 <= index(count) <= session.limit("SQLITE_LIMIT_FUNCTION_ARG") or len(name.encode()) > 255 or is_in_use:
            raise OperationalError(message)

    def create_function(self, name: str, narg: int, func: Callable[..., Any] | None, *, deterministic: bool = False) -> None:
        """Make ``func`` an SQL function (None: remove it)."""
        self._check()
        self._check_function(name, narg, "Error creating function")
        wrapped = None if func is None else resolve("sqlvec.dbapi.user_functions:scalar")(func)
        self._session.functions.define_scalar(name, narg, wrapped, 0x800 if deterministic else 0)

    def create_aggregate(self, name: str, n_arg: int, aggregate_class: Any) -> None:
        """Make a class with ``step`` and ``finalize`` an aggregate (None: remove it)."""
        self._check()
        self._check_function(name, n_arg, "Error creating aggregate")
        wrapped = None if aggregate_class is None else resolve("sqlvec.dbapi.user_functions:aggregate")(aggregate_class)
        self._session.functions.define_aggregate(name, n_arg, wrapped)

    def create_window_function(self, name: str, num_params: int, aggregate_class: Any, /) -> None:
        """Make a class with ``step``, ``inverse``, ``value`` and ``finalize`` a window function (None: remove it)."""
        self._check()
        _check_text(name)
        if not -1 <= index(num_params) <= self._session.limit("SQLITE_LIMIT_FUNCTION_ARG") or len(name.encode()) > 255:
            raise ProgrammingError("bad parameter or other API misuse")
        wrapped = None if aggregate_class is None else resolve("sqlvec.dbapi.user_functions:window")(aggregate_class)
        self._session.functions.define_aggregate(name, num_params, wrapped, True)

    def create_collation(self, name: str, callback: Callable[[str, str], int] | None, /) -> None:
        """Make ``callback`` a collation (None: remove it)."""
        self._check()
        _check_text(name, "create_collation() argument 1")
        if callback is not None and not callable(callback):
            raise TypeError("parameter must be callable")
        if self._session.running and self._session.collations.lookup(name) is not None:
            raise translate(errors.collation_in_use())
        self._session.collations.register(str.__str__(name), None if callback is None else collation(callback))
        self._session.settings.changed()

    # --- hooks --------------------------------------------------------------------------------------------------------------------------

    def set_authorizer(self, authorizer_callback: Any) -> None:
        """Have ``authorizer_callback(action, first, second, schema, inner)`` allow (0), refuse (1) or ignore (2) what statements do."""
        self._check()
        self._session.authorize = None if authorizer_callback is None else authorizer(authorizer_callback)
        self._cache.clear()
        self._session.settings.changed()

    def set_trace_callback(self, trace_callback: Any) -> None:
        """Have ``trace_callback`` called with the text of each statement that begins."""
        self._check()
        self._session.trace = None if trace_callback is None else trace(trace_callback, self._session)

    def set_progress_handler(self, progress_handler: Any, n: int) -> None:
        """Have ``progress_handler`` called about every ``n`` units of work (session/hooks.py); a true answer interrupts the statement."""
        self._check()
        n = index(n)
        self._session.set_progress(None if progress_handler is None else progress(progress_handler), n)

    def interrupt(self) -> None:
        """Interrupt running statements; may be called from another thread."""
        self._check_open()
        self._session.set_interrupt()

    # --- limits -------------------------------------------------------------------------------------------------------------------------

    def _limit_name(self, category: int) -> str:
        names = resolve("sqlvec.session.hooks:LIMIT_NAMES")
        if not 0 <= index(category) < len(names):
            raise ProgrammingError("'category' is out of bounds")
        return str(names[category])

    def getlimit(self, category: int, /) -> int:
        """The value of a run-time limit."""
        self._check()
        return int(self._session.limit(self._limit_name(category)))

    def setlimit(self, category: int, limit: int, /) -> int:
        """Set a run-time limit, at most to what is built in; the value before.  A negative ``limit`` changes nothing."""
        self._check()
        if not -0x80000000 <= index(limit) <= 0x7FFFFFFF:
            raise OverflowError("Python int too large to convert to C int")
        return int(self._session.set_limit(self._limit_name(category), limit))

    # --- whole databases -----------------------------------------------------------------------------------------------------------------

    def iterdump(self) -> Iterator[str]:
        """The database as SQL text, a statement at a time."""
        self._check_open()
        return resolve("sqlvec.dbapi.dump:iterdump")(self)  # type: ignore[no-any-return]

    def backup(self, target: Connection, *, pages: int = -1, progress: Any = None, name: str = "main", sleep: float = 0.250) -> None:
        """Copy this database into ``target``, ``pages`` at a time; ``progress(status, remaining, total)`` is called after each step."""
        self._check()
        if not isinstance(target, Connection):
            raise TypeError(f"backup() argument 'target' must be sqlite3.Connection, not {'None' if target is None else type(target).__name__}")
        if not isinstance(name, str):
            raise TypeError(f"backup() argument 'name' must be str, not {'None' if name is None else type(name).__name__}")
        if target is self:
            raise ValueError("target cannot be the same connection instance")
        if isinstance(sleep, str):
            raise TypeError("must be real number, not str")
        pages = index(pages)
        target._check()
        if progress is not None and not callable(progress):
            raise TypeError("progress argument must be a callable")
        self._call(resolve("sqlvec.session.backup:backup"), self._session, name, target._session, "main", pages or -1, progress)

    def blobopen(self, table: str, column: str, row: int, /, *, readonly: bool = False, name: str = "main") -> Any:
        """Open a BLOB for incremental reading and writing."""
        self._check()
        for number, word in enumerate((table, column), 1):
            _check_text(word, f"blobopen() argument {number}")
        if not hasattr(row, "__index__"):
            raise TypeError("expected 'int'")
        if not -0x8000000000000000 <= row <= 0x7FFFFFFFFFFFFFFF:
            raise OverflowError("Python int too large to convert to SQLite INTEGER")
        return self._call(resolve("sqlvec.dbapi.blob:Blob")._open, self, table, column, row, readonly, name)

    def serialize(self, *, name: str = "main") -> bytes:
        """The bytes of the database file."""
        self._check()
        _check_text(name, "serialize() argument 'name'")
        image = resolve("sqlvec.session.backup:serialize")(self._session, name)
        if not image:
            raise OperationalError(f"unable to serialize '{name}'")
        return image  # type: ignore[no-any-return]

    def deserialize(self, data: Any, /, *, name: str = "main") -> None:
        """Make ``data``, the bytes of a database file, the content of database ``name``, which becomes a memory database."""
        self._check()
        _check_text(name, "deserialize() argument 'name'")
        if isinstance(data, str):
            data = data.encode()
        view = memoryview(data)
        if not view.c_contiguous:
            raise BufferError("memoryview: underlying buffer is not C-contiguous")
        self._cache.clear()
        self._call(resolve("sqlvec.session.backup:deserialize"), self._session, view.tobytes(), name)

    def enable_load_extension(self, enable: bool, /) -> None:
        """Accepted; extensions are never loaded."""
        self._check()

    def load_extension(self, name: str, /) -> None:
        """Always refused."""
        self._check()
        raise OperationalError("not authorized")


def _level(level: Any) -> str | None:
    """An isolation level as it is kept.  Errors: TypeError, ValueError."""
    if level is None:
        return None
    if not isinstance(level, str):
        raise TypeError("isolation_level must be str or None")
    if "\0" in level:
        raise ValueError("embedded null character")
    name = str.upper(level)
    if name not in LEVELS:
        raise ValueError("isolation_level string must be '', 'DEFERRED', 'IMMEDIATE', or 'EXCLUSIVE'")
    return name


def _check_text(word: Any, what: str = "create_function() argument 'name'") -> None:
    if not isinstance(word, str):
        raise TypeError(f"{what} must be str, not {type(word).__name__}")
    word.encode()
    if "\0" in word:
        raise ValueError("embedded null character")


def _is_blank(sql: str, position: int) -> bool:
    """Are there only blanks and comments from ``position`` on?  (Another ``;`` is a statement to the module.)"""
    while position < len(sql):
        if sql[position] in " \t\n\r":
            position += 1
        elif sql.startswith("--", position):
            end = sql.find("\n", position)
            position = len(sql) if end < 0 else end + 1
        elif sql.startswith("/*", position):
            end = sql.find("*/", position)
            position = len(sql) if end < 0 else end + 2
        else:
            return False
    return True


def connect(*arguments: Any, **options: Any) -> Any:
    """Open a connection to ``database`` (a path, ``":memory:"``, or with ``uri=True`` a ``file:`` name).

    Arguments are those of ``Connection``; the sixth, ``factory``, is the class to make."""
    factory = arguments[5] if len(arguments) > 5 else options.get("factory", Connection)
    return factory(*arguments, **options)
