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


for _name in ("Warning", "Error", "InterfaceError", "DatabaseError", "DataError", "OperationalError", "IntegrityError", "InternalError", "ProgrammingError",
              "NotSupportedError"):
    globals()[_name].__module__ = "sqlvec"          # where they are found, and what tracebacks print


_OTHER_CODES = {
    "AUTH_USER": 279, "BUSY_TIMEOUT": 773, "CANTOPEN_CONVPATH": 1038, "CANTOPEN_DIRTYWAL": 1294, "CANTOPEN_FULLPATH": 782, "CANTOPEN_NOTEMPDIR": 270,
    "CANTOPEN_SYMLINK": 1550, "CONSTRAINT_PINNED": 2835, "CORRUPT_INDEX": 779, "CORRUPT_SEQUENCE": 523, "CORRUPT_VTAB": 267,
    "ERROR_RETRY": 513, "ERROR_SNAPSHOT": 769, "IOERR_ACCESS": 3338, "IOERR_AUTH": 7178, "IOERR_BEGIN_ATOMIC": 7434, "IOERR_BLOCKED": 2826,
    "IOERR_CHECKRESERVEDLOCK": 3594, "IOERR_CLOSE": 4106, "IOERR_COMMIT_ATOMIC": 7690, "IOERR_CONVPATH": 6666, "IOERR_CORRUPTFS": 8458, "IOERR_DATA": 8202,
    "IOERR_DELETE_NOENT": 5898, "IOERR_DIR_CLOSE": 4362, "IOERR_DIR_FSYNC": 1290, "IOERR_GETTEMPPATH": 6410, "IOERR_LOCK": 3850, "IOERR_MMAP": 6154,
    "IOERR_NOMEM": 3082, "IOERR_RDLOCK": 2314, "IOERR_ROLLBACK_ATOMIC": 7946, "IOERR_SEEK": 5642, "IOERR_SHMLOCK": 5130, "IOERR_SHMMAP": 5386,
    "IOERR_SHMOPEN": 4618, "IOERR_SHMSIZE": 4874, "IOERR_UNLOCK": 2058, "IOERR_VNODE": 6922, "LOCKED_SHAREDCACHE": 262, "LOCKED_VTAB": 518, "NOTICE": 27,
    "NOTICE_RECOVER_ROLLBACK": 539, "NOTICE_RECOVER_WAL": 283, "OK_LOAD_PERMANENTLY": 256, "OK_SYMLINK": 512, "READONLY_CANTINIT": 1288,
    "READONLY_CANTLOCK": 520, "READONLY_DBMOVED": 1032, "READONLY_RECOVERY": 264, "WARNING": 28, "WARNING_AUTOINDEX": 284,
}
"""Result codes that this engine never raises but the module has names for."""


def error_names() -> dict[int, str]:
    """Extended code -> ``SQLITE_...`` name."""
    names: dict[int, str] = {}
    for name, code in vars(errors).items():
        if name.isupper() and isinstance(code, int) and name != "OK":
            names.setdefault(code, "SQLITE_" + name)
    for name, code in _OTHER_CODES.items():
        names.setdefault(code, "SQLITE_" + name)
    return names


def translate(error: errors.SqlError, is_opening: bool = False) -> Exception:
    """The PEP 249 exception for an engine error.  ``is_opening``: extended codes are not reported yet."""
    if error.code == errors.NOMEM:
        return MemoryError()
    kind = _BY_CODE.get(error.code, OperationalError if error.code in _OPERATIONAL else DatabaseError)
    made: Any = kind(error.message)
    made.sqlite_errorcode = error.code if is_opening else error.extended
    made.sqlite_errorname = error_names().get(made.sqlite_errorcode, "SQLITE_ERROR")
    return made
