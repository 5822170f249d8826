"""Cursor of PEP 249 with the standard module's behaviour: implicit BEGIN before writes, rowcount, lastrowid, converters, row factories.

Invariants
1. A cursor is *locked* while it binds, runs a statement or converts a row: user code called then may not use it ("Recursive use of cursors").
2. The statement is one row ahead: ``_next`` is the row that the next fetch delivers, so that errors and the end are known when the standard module
   knows them.
"""
from __future__ import annotations

from operator import index
from types import MappingProxyType

from sqlvec import errors
from sqlvec.dbapi.adapt import converter_for, to_bytes, to_sql
from sqlvec.dbapi.exceptions import DataError, OperationalError, ProgrammingError, translate
from sqlvec.values import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from sqlvec.dbapi.connection import Connection
    from sqlvec.session.statement import Statement

WRITES = ("Insert", "Update", "Delete")


def is_dml(statement: Statement) -> bool:
    """Does the text begin with INSERT, UPDATE, DELETE or REPLACE?  (Behind WITH or EXPLAIN the module doesn't look.)"""
    tree = statement.tree
    return type(tree).__name__ in WRITES and statement.explain is None and tree.with_ is None


class Cursor:
    """Executes statements and fetches their rows.  ``rowcount`` is -1 but after INSERT, UPDATE, DELETE; ``description`` is None without rows."""

    _ready = False
    _closed = False
    _locked = False
    _statement: Statement | None = None
    _connection: Any = None
    _description: tuple[tuple[Any, ...], ...] | None = None
    _lastrowid: int | None = None
    _rowcount = -1
    _arraysize = 1
    row_factory: Any = None

    def __init__(self, connection: Connection, /) -> None:
        if self._locked:
            raise ProgrammingError("Recursive use of cursors not allowed.")
        if not hasattr(connection, "_check_thread"):
            raise TypeError(f"Cursor() argument 1 must be sqlite3.Connection, not {type(connection).__name__}")
        if self._statement is not None:
            self._finish()
        self._connection = connection
        self._description = None
        self._rowcount = -1
        self._lastrowid = None
        self._arraysize = 1
        self.row_factory = None
        self._sql = ""
        self._next: Any = None
        self._convert: list[Any] | None = None
        self._is_write = False
        self._closed = False
        connection._check_thread()
        self._ready = True

    @property
    def connection(self) -> Connection:
        return self._connection  # type: ignore[no-any-return]

    @property
    def description(self) -> tuple[tuple[Any, ...], ...] | None:
        return self._description

    @property
    def rowcount(self) -> int:
        return self._rowcount

    @property
    def lastrowid(self) -> int | None:
        return self._lastrowid

    @property
    def arraysize(self) -> int:
        return self._arraysize

    @arraysize.setter
    def arraysize(self, size: int) -> None:
        self._arraysize = index(size)

    # --- executing ----------------------------------------------------------------------------------------------------------------------

    def execute(self, sql: str, parameters: Any = (), /) -> Cursor:
        """Run one statement; the first row is computed now."""
        self._begin_execution(sql, "execute")
        self._locked = True
        try:
            statement = self._prepare(sql)
            if statement is not None:
                self._run(statement, parameters)
        finally:
            self._locked = False
        return self

    def executemany(self, sql: str, rows: Iterable[Any], /) -> Cursor:
        """Run a writing statement once for each row of parameters."""
        self._begin_execution(sql, "executemany")
        rows = iter(rows)
        self._locked = True
        try:
            statement = self._prepare(sql)
            if statement is None or (statement.is_readonly and statement.explain is None):
                self._give_back()
                raise ProgrammingError("executemany() can only execute DML statements.")
            if self._is_write:
                self._rowcount = 0
            self._run_many(statement, rows)
        finally:
            self._locked = False
        return self

    def _run_many(self, statement: Statement, rows: Iterable[Any]) -> None:
        total = 0
        try:
            self._begin_transaction()
            if statement.explain is None and not statement.names:
                total = statement.execute_many(self._bind(statement, row) for row in rows)
            else:
                for row in rows:
                    statement.bind(self._bind(statement, row))
                    while statement.step() is not None:
                        pass
                    total += self._connection._session.transaction.changes
        except errors.SqlError as error:
            statement.reset()
            raise translate(error) from None
        finally:
            self._give_back()
        if self._is_write:
            self._rowcount = total

    def executescript(self, sql_script: str, /) -> Cursor:
        """Run all statements of a script, after a COMMIT of what is open."""
        if not isinstance(sql_script, str):
            raise TypeError(f"executescript() argument must be str, not {type(sql_script).__name__}")
        script = sql_script
        if not script.isascii():
            script.encode()
        if "\0" in script:
            raise ValueError("embedded null character")
        self._check()
        connection = self._connection
        session = connection._session
        if len(script.encode()) > session.limit("SQLITE_LIMIT_SQL_LENGTH"):
            raise DataError("query string is too large")
        try:
            if not session.transaction.autocommit:
                connection._end_transaction("COMMIT")
            position = 0
            while position < len(script):
                statement, position = session.prepare(script, position)
                if statement is None:
                    continue
                for _ in statement:
                    pass
        except errors.SqlError as error:
            raise translate(error) from None
        return self

    def _begin_execution(self, sql: str, method: str) -> None:
        if not isinstance(sql, str):
            raise TypeError(f"{method}() argument 1 must be str, not {'None' if sql is None else type(sql).__name__}")
        self._check()
        if self._statement is not None:
            self._finish()
        self._description = None
        self._rowcount = -1

    def _prepare(self, sql: str) -> Statement | None:
        statement = self._connection._checkout(sql)
        self._sql = sql
        self._statement = statement
        self._is_write = statement is not None and is_dml(statement)
        return statement  # type: ignore[no-any-return]

    def _begin_transaction(self) -> None:
        connection = self._connection
        if self._is_write and connection._isolation_level is not None and connection._session.transaction.autocommit:
            connection._begin()

    def _bind(self, statement: Statement, parameters: Any) -> tuple[Any, ...]:
        names = statement.parameters
        kind = type(parameters)
        is_mapping = isinstance(parameters, dict)
        if kind is tuple or kind is list or (not is_mapping and hasattr(parameters, "__getitem__") and kind is not MappingProxyType):
            count = len(parameters)
            if count != len(names):
                raise ProgrammingError(
                    f"Incorrect number of bindings supplied. The current statement uses {len(names)}, and there are {count} supplied.")
            values = [to_sql(parameters[place], place + 1) for place in range(count)]
        elif is_mapping:
            values = []
            for position, name in enumerate(names, 1):
                if name is None:
                    raise ProgrammingError(f"Binding {position} has no name, but you supplied a dictionary (which has only names).")
                try:
                    value = parameters[name[1:]]
                except LookupError:
                    raise ProgrammingError(f"You did not supply a value for binding parameter :{name[1:]}.") from None
                values.append(to_sql(value, position))
        else:
            raise ProgrammingError("parameters are of unsupported type")
        longest = self._connection._session.limits.get("SQLITE_LIMIT_LENGTH")
        if longest is not None:
            for value in values:
                if isinstance(value, (str, bytes)) and len(to_bytes(value)) > longest:
                    raise errors.string_or_blob_too_big()
        return tuple(values)

    def _run(self, statement: Statement, parameters: Any) -> None:
        session = self._connection._session
        if self._is_write:
            self._rowcount = 0
        try:
            statement.bind(self._bind(statement, parameters))
            self._begin_transaction()
            first = statement.step()
        except errors.SqlError as error:
            statement.reset()
            self._rowcount = -1
            self._give_back()
            raise translate(error) from None
        except BaseException:
            self._rowcount = -1
            self._give_back()
            raise
        if statement.names:
            self._description = tuple([(self._column_name(name), None, None, None, None, None, None) for name in statement.names])
            self._prepare_conversion(statement)
        self._lastrowid = session.transaction.last_insert_rowid
        if first is None:
            if self._is_write:
                self._rowcount = session.transaction.changes
            self._give_back()
        else:
            self._next = first

    def _column_name(self, name: str) -> str:
        if not self._connection._detect_types & 2:
            return name
        start = name.find("[")
        return name if start < 0 else name[:start].removesuffix(" ")

    def _prepare_conversion(self, statement: Statement) -> None:
        self._convert = None
        detect = self._connection._detect_types
        if detect:
            declared = statement.declared_types or (None,) * len(statement.names)
            found = [converter_for(kind, name, detect) for kind, name in zip(declared, statement.names, strict=True)]
            if any(found):
                self._convert = found

    # --- fetching -----------------------------------------------------------------------------------------------------------------------

    def __iter__(self) -> Cursor:
        return self

    def __next__(self) -> Any:
        self._check()
        row = self._next
        statement = self._statement
        if row is None or statement is None:
            raise StopIteration
        if self._convert is not None or text.invalid_text_seen or self._connection.text_factory is not str:
            self._locked = True
            try:
                row = tuple([self._converted(place, value) for place, value in enumerate(row)])
            finally:
                self._locked = False
        try:
            self._next = statement.step()
        except errors.SqlError as error:
            self._give_back()
            raise translate(error) from None
        except BaseException:
            self._give_back()
            raise
        if self._next is None:
            if self._is_write:
                self._rowcount = self._connection._session.transaction.changes
            self._give_back()
        if self.row_factory is not None:
            return self.row_factory(self, row)
        return row

    def _converted(self, place: int, value: Any) -> Any:
        """A value through the converter of its column, or else through the text factory."""
        if self._convert is not None and self._convert[place] is not None:
            if value is None or value == "" or value == b"":
                return None
            return self._convert[place](to_bytes(value))
        if type(value) is not str:
            return value
        factory = self._connection.text_factory
        if factory is not str:
            return factory(to_bytes(value))
        if not value.isascii() and not text.is_valid(value):
            name = self._statement.names[place]  # type: ignore[union-attr]
            shown = text.until_nul(value).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            raise OperationalError(f"Could not decode to UTF-8 column '{name}' with text '{shown}'")
        return value

    def fetchone(self) -> Any:
        """The next row, or None."""
        return next(self, None)

    def fetchmany(self, size: int | None = None) -> list[Any]:
        """Up to ``size`` rows (default ``arraysize``); 0 and negative numbers mean all."""
        wanted = self._arraysize if size is None else index(size)
        rows: list[Any] = []
        for row in self:
            rows.append(row)
            if len(rows) == wanted:
                break
        return rows

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        return list(self)

    # --- the end --------------------------------------------------------------------------------------------------------------------------

    def _give_back(self) -> None:
        statement = self._statement
        self._statement = None
        self._next = None
        if statement is not None:
            self._connection._give_back(self._sql, statement)

    def _finish(self) -> None:
        if self._statement is not None:
            try:
                self._statement.reset()
            except errors.SqlError as error:
                self._give_back()
                raise translate(error) from None
            self._give_back()

    def close(self) -> None:
        """Give up the statement; the cursor can't be used any more."""
        if self._locked:
            raise ProgrammingError("Recursive use of cursors not allowed.")
        if not self._ready:
            raise ProgrammingError("Base Cursor.__init__ not called.")
        self._connection._check()
        self._finish()
        self._closed = True

    def _check(self) -> None:
        if not self._ready or self._closed or self._locked:
            if not self._ready:
                raise ProgrammingError("Base Cursor.__init__ not called.")
            if self._closed:
                raise ProgrammingError("Cannot operate on a closed cursor.")
            raise ProgrammingError("Recursive use of cursors not allowed.")
        self._connection._check()

    def __del__(self) -> None:
        if self._statement is not None:             # forgotten in the middle of its rows: locks must go
            try:
                self._statement.reset()
            except errors.SqlError:
                pass

    def __reduce__(self) -> Any:
        raise TypeError("cannot pickle 'sqlite3.Cursor' object")

    def setinputsizes(self, sizes: Any, /) -> None:
        """Required by PEP 249; does nothing."""

    def setoutputsize(self, size: Any, column: Any = None, /) -> None:
        """Required by PEP 249; does nothing."""
