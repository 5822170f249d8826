"""The exception tree of PEP 249, as the standard ``sqlite3`` module has it, and the map from SQLite result codes to it.

::

    Exception
    +-- Warning
    +-- Error                        sqlite_errorcode, sqlite_errorname
        +-- InterfaceError
        +-- DatabaseError
            +-- DataError            TOOBIG
            +-- OperationalError     most codes
            +-- IntegrityError       CONSTRAINT, MISMATCH
            +-- InternalError        INTERNAL, NOTFOUND
            +-- ProgrammingError     misuse of the module
            +-- NotSupportedError
"""
from __future__ import annotations

from sqlvec import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Warning(Exception):  # the name is PEP 249's
    pass


class Error(Exception):
    """Base of all errors; those that come from the engine carry ``sqlite_errorcode`` (extended) and ``sqlite_errorname``."""

    sqlite_errorcode: int
    sqlite_errorname: str


class InterfaceError(Error):
    pass


class DatabaseError(Error):
    pass


class DataError(DatabaseError):
    pass


class OperationalError(DatabaseError):
    pass


class IntegrityError(DatabaseError):
    pass


class InternalError(DatabaseError):
    pass


class ProgrammingError(DatabaseError):
    pass


class NotSupportedError(DatabaseError):
    pass


_BY_CODE: dict[int, type[Error]] = {
    errors.INTERNAL: InternalError, errors.NOTFOUND: InternalError, errors.CORRUPT: DatabaseError, errors.NOTADB: DatabaseError,
    errors.TOOBIG: DataError, errors.CONSTRAINT: IntegrityError, errors.MISMATCH: IntegrityError, errors.MISUSE: InterfaceError,
    errors.RANGE: InterfaceError,
}
_OPERATIONAL = (errors.ERROR, errors.PERM, errors.ABORT, errors.BUSY, errors.LOCKED, errors.READONLY, errors.INTERRUPT, errors.IOERR, errors.FULL,
                errors.CANTOPEN, errors.PROTOCOL, errors.EMPTY, errors.SCHEMA)


def error_names() -> dict[int, str]:
    """Extended code -> ``SQLITE_...`` name."""
    names: dict[int, str] = {}
    for name, code in vars(errors).items():
        if name.isupper() and isinstance(code, int) and name != "OK":
            names.setdefault(code, "SQLITE_" + name)
    return names


def translate(error: errors.SqlError) -> Exception:
    """The PEP 249 exception for an engine error."""
    if error.code == errors.NOMEM:
        return MemoryError()
    kind = _BY_CODE.get(error.code, OperationalError if error.code in _OPERATIONAL else DatabaseError)
    made: Any = kind(error.message)
    made.sqlite_errorcode = error.extended
    made.sqlite_errorname = error_names().get(error.extended, "SQLITE_ERROR")
    return made
