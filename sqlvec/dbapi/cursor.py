"""Cursor of PEP 249 with the standard module's behaviour: implicit BEGIN before writes, rowcount, lastrowid, converters, row factories."""
from __future__ import annotations

from sqlvec import errors
from sqlvec.dbapi.adapt import converter_for, to_bytes, to_sql
from sqlvec.dbapi.exceptions import ProgrammingError, translate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from sqlvec.dbapi.connection import Connection
    from sqlvec.session.statement import Statement

WRITES = ("Insert", "Update", "Delete")


class Cursor:
    """Executes statements and fetches their rows.  ``rowcount`` is -1 but after INSERT, UPDATE, DELETE; ``description`` is None without rows."""

    def __init__(self, connection: Connection) -> None:
        connection._check()
        self.connection = connection
        self.description: tuple[tuple[Any, ...], ...] | None = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.arraysize = 1
        self.row_factory = connection.row_factory
        self._statement: Statement | None = None
        self._sql = ""
        self._next: Any = None
        self._convert: list[Any] | None = None
        self._is_write = False
        self._closed = False

    # --- executing ----------------------------------------------------------------------------------------------------------------------

    def execute(self, sql: str, parameters: Any = (), /) -> Cursor:
        self._begin_execution(sql)
        statement = self._prepare(sql)
        if statement is None:
            return self
        self._run(statement, parameters)
        return self

    def executemany(self, sql: str, rows: Iterable[Any], /) -> Cursor:
        self._begin_execution(sql)
        statement = self._prepare(sql)
        if statement is None:
            return self
        if not self._is_write:
            raise ProgrammingError("executemany() can only execute DML statements.")
        total = 0
        try:
            self._begin_transaction()
            try:
                total = statement.execute_many(self._bind(statement, row) for row in rows)
            except errors.SqlError as error:
                if error.code == errors.MISUSE:
                    raise ProgrammingError("executemany() can only execute DML statements.") from None
                raise
        except errors.SqlError as error:
            statement.reset()
            raise translate(error) from None
        finally:
            self._give_back()
        self.rowcount = total
        return self

    def executescript(self, script: str, /) -> Cursor:
        if not isinstance(script, str):
            raise TypeError(f"executescript() argument must be str, not {type(script).__name__}")
        if "\0" in script:
            raise ValueError("embedded null character")
        self._begin_execution(script)
        session = self.connection._session
        try:
            if not session.transaction.autocommit:
                session.transaction.commit()
            position = 0
            while position < len(script):
                statement, position = session.prepare(script, position)
                if statement is None:
                    break
                for _ in statement:
                    pass
        except errors.SqlError as error:
            raise translate(error) from None
        return self

    def _begin_execution(self, sql: str) -> None:
        self._check()
        if not isinstance(sql, str):
            raise TypeError(f"execute() argument 1 must be str, not {type(sql).__name__}")
        self._finish()
        self.description = None
        self.rowcount = -1

    def _prepare(self, sql: str) -> Statement | None:
        statement = self.connection._checkout(sql)
        self._sql = sql
        self._statement = statement
        self._is_write = statement is not None and type(statement.tree).__name__ in WRITES and statement.explain is None
        return statement

    def _begin_transaction(self) -> None:
        connection = self.connection
        if self._is_write and connection.isolation_level is not None and connection._session.transaction.autocommit:
            connection._session.transaction.begin(connection.isolation_level or "DEFERRED")

    def _bind(self, statement: Statement, parameters: Any) -> tuple[Any, ...]:
        names = statement.parameters
        if isinstance(parameters, (tuple, list)) or (hasattr(parameters, "__getitem__") and hasattr(parameters, "__len__") and not hasattr(parameters, "keys")):
            if len(parameters) != len(names):
                raise ProgrammingError(
                    f"Incorrect number of bindings supplied. The current statement uses {len(names)}, and there are {len(parameters)} supplied.")
            return tuple([to_sql(value, position) for position, value in enumerate(parameters, 1)])
        if not hasattr(parameters, "__getitem__"):
            raise ProgrammingError("parameters are of unsupported type")
        values = []
        for position, name in enumerate(names, 1):
            if name is None:
                raise ProgrammingError(f"Binding {position} has no name, but you supplied a dictionary (which has only names).")
            try:
                value = parameters[name[1:]]
            except LookupError:
                raise ProgrammingError(f"You did not supply a value for binding parameter :{name[1:]}.") from None
            values.append(to_sql(value, f":{name[1:]}"))
        return tuple(values)

    def _run(self, statement: Statement, parameters: Any) -> None:
        session = self.connection._session
        try:
            statement.bind(self._bind(statement, parameters))
            self._begin_transaction()
            first = statement.step()
        except errors.SqlError as error:
            statement.reset()
            self._give_back()
            raise translate(error) from None
        except BaseException:
            self._give_back()
            raise
        if statement.names:
            self.description = tuple((self._column_name(name), None, None, None, None, None, None) for name in statement.names)
            self._prepare_conversion(statement)
        if self._is_write:
            self.rowcount = session.transaction.changes
            if type(statement.tree).__name__ == "Insert":
                self.lastrowid = session.transaction.last_insert_rowid
        if first is None:
            self._give_back()
        else:
            self._next = first

    def _column_name(self, name: str) -> str:
        from_names = self.connection._detect_types & 2
        return name[: name.index("[")].rstrip() if from_names and "[" in name else name

    def _prepare_conversion(self, statement: Statement) -> None:
        self._convert = None
        detect = self.connection._detect_types
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
        if row is None:
            raise StopIteration
        statement = self._statement
        assert statement is not None
        if self._convert is not None:
            row = tuple([value if convert is None or value is None else convert(to_bytes(value))
                         for value, convert in zip(row, self._convert, strict=True)])
        text_factory = self.connection.text_factory
        if text_factory is not str:
            row = tuple([text_factory(to_bytes(value)) if type(value) is str else value for value in row])
        try:
            self._next = statement.step()
        except errors.SqlError as error:
            self._next = None
            self._give_back()
            raise translate(error) from None
        if self._next is None:
            self._give_back()
        if self.row_factory is not None:
            return self.row_factory(self, row)
        return row

    def fetchone(self) -> Any:
        return next(self, None)

    def fetchmany(self, size: int | None = None) -> list[Any]:
        wanted = self.arraysize if size is None else size
        rows: list[Any] = []
        while len(rows) < wanted:
            row = next(self, None)
            if row is None:
                break
            rows.append(row)
        return rows

    def fetchall(self) -> list[Any]:
        return list(self)

    # --- the end --------------------------------------------------------------------------------------------------------------------------

    def _give_back(self) -> None:
        statement = self._statement
        self._statement = None
        self._next = None
        if statement is not None:
            self.connection._give_back(self._sql, statement)

    def _finish(self) -> None:
        if self._statement is not None:
            try:
                self._statement.reset()
            except errors.SqlError as error:
                self._give_back()
                raise translate(error) from None
            self._give_back()

    def close(self) -> None:
        if not self._closed:
            self.connection._check_thread()
            self._finish()
            self._closed = True

    def _check(self) -> None:
        if self._closed:
            raise ProgrammingError("Cannot operate on a closed cursor.")
        self.connection._check()

    def setinputsizes(self, sizes: Any, /) -> None:
        """Required by PEP 249; does nothing."""

    def setoutputsize(self, size: Any, column: Any = None, /) -> None:
        """Required by PEP 249; does nothing."""



