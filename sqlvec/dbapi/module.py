"""Module-level names of PEP 249 and of the standard module: type constructors, ``complete_statement``, ``SQLITE_...`` constants."""
from __future__ import annotations

import datetime
import time
import warnings

from sqlvec import errors
from sqlvec.dbapi.adapt import to_sql
from sqlvec.dbapi.exceptions import error_names
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Binary = memoryview
Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime

_CONSTANTS = {
    "SQLITE_OK": 0, "SQLITE_DENY": 1, "SQLITE_IGNORE": 2, "SQLITE_CREATE_INDEX": 1, "SQLITE_CREATE_TABLE": 2, "SQLITE_CREATE_TEMP_INDEX": 3,
    "SQLITE_CREATE_TEMP_TABLE": 4, "SQLITE_CREATE_TEMP_TRIGGER": 5, "SQLITE_CREATE_TEMP_VIEW": 6, "SQLITE_CREATE_TRIGGER": 7, "SQLITE_CREATE_VIEW": 8,
    "SQLITE_DELETE": 9, "SQLITE_DROP_INDEX": 10, "SQLITE_DROP_TABLE": 11, "SQLITE_DROP_TEMP_INDEX": 12, "SQLITE_DROP_TEMP_TABLE": 13,
    "SQLITE_DROP_TEMP_TRIGGER": 14, "SQLITE_DROP_TEMP_VIEW": 15, "SQLITE_DROP_TRIGGER": 16, "SQLITE_DROP_VIEW": 17, "SQLITE_INSERT": 18,
    "SQLITE_PRAGMA": 19, "SQLITE_READ": 20, "SQLITE_SELECT": 21, "SQLITE_TRANSACTION": 22, "SQLITE_UPDATE": 23, "SQLITE_ATTACH": 24, "SQLITE_DETACH": 25,
    "SQLITE_ALTER_TABLE": 26, "SQLITE_REINDEX": 27, "SQLITE_ANALYZE": 28, "SQLITE_CREATE_VTABLE": 29, "SQLITE_DROP_VTABLE": 30, "SQLITE_FUNCTION": 31,
    "SQLITE_SAVEPOINT": 32, "SQLITE_RECURSIVE": 33, "SQLITE_LIMIT_LENGTH": 0, "SQLITE_LIMIT_SQL_LENGTH": 1, "SQLITE_LIMIT_COLUMN": 2,
    "SQLITE_LIMIT_EXPR_DEPTH": 3, "SQLITE_LIMIT_COMPOUND_SELECT": 4, "SQLITE_LIMIT_VDBE_OP": 5, "SQLITE_LIMIT_FUNCTION_ARG": 6,
    "SQLITE_LIMIT_ATTACHED": 7, "SQLITE_LIMIT_LIKE_PATTERN_LENGTH": 8, "SQLITE_LIMIT_VARIABLE_NUMBER": 9, "SQLITE_LIMIT_TRIGGER_DEPTH": 10,
    "SQLITE_LIMIT_WORKER_THREADS": 11, "SQLITE_DONE": 101, "SQLITE_ROW": 100,
}


_HIDDEN = ("SQLITE_CONSTRAINT_DATATYPE",)


def constant(name: str) -> Any:
    """The value of a ``SQLITE_...`` constant, or of a deprecated name.  Errors: AttributeError."""
    if name == "OptimizedUnicode":
        warnings.warn("OptimizedUnicode is deprecated and will be removed in Python 3.12. Since Python 3.3 it has simply been an alias for 'str'.",
                      DeprecationWarning, stacklevel=3)
        return str
    if name in _CONSTANTS:
        return _CONSTANTS[name]
    for code, known in error_names().items():
        if known == name:
            return code
    value = getattr(errors, name[7:], None)
    if isinstance(value, int):
        return value
    raise AttributeError(f"module 'sqlvec' has no attribute {name!r}")


def DateFromTicks(ticks: float) -> datetime.date:
    return Date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> datetime.time:
    return Time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> datetime.datetime:
    return Timestamp(*time.localtime(ticks)[:6])


def complete_statement(statement: str) -> bool:
    """True when the text ends a statement."""
    if not isinstance(statement, str):
        raise TypeError(f"complete_statement() argument 'statement' must be str, not {type(statement).__name__}")
    if "\0" in statement:
        raise ValueError("embedded null character")
    return bool(resolve("sqlvec.parse.complete:is_complete")(statement))


def analyze(connection: Any, sql: str, parameters: Any = ()) -> Any:
    """Run a statement and tell what each part of its plan did (an extension): an object with ``text()``, ``json()`` and ``as_dict()``.

    Parameters are given by position.  There is no BEGIN before a writing statement."""
    connection._check()
    values = tuple([to_sql(value, position) for position, value in enumerate(parameters, 1)])
    return connection._call(connection._session.analyze, sql, values)


def enable_shared_cache(do_enable: int) -> None:
    """Deprecated as in the standard module; there is no shared cache."""
    warnings.warn("enable_shared_cache is deprecated and will be removed in Python 3.12. Shared cache is strongly discouraged by the SQLite 3 "
                  "documentation. If shared cache must be used, open the database in URI mode using the cache=shared query parameter.",
                  DeprecationWarning, stacklevel=2)


def constant_names() -> list[str]:
    """All ``SQLITE_...`` names."""
    return sorted({*_CONSTANTS, *(name for name in error_names().values() if name not in _HIDDEN)})
