"""sqlvec: SQLite 3.40.1 in pure Python, with a vectorised executor.

Use it in the place of the standard ``sqlite3`` module: ``import sqlvec as sqlite3``.  Names are loaded on first use.
"""

import sys

from sqlvec.resolve import resolve

_EXPORTS = {
    **dict.fromkeys(("Connection", "connect"), "sqlvec.dbapi.connection"),
    "Cursor": "sqlvec.dbapi.cursor",
    "Row": "sqlvec.dbapi.row",
    "Blob": "sqlvec.dbapi.blob",
    **dict.fromkeys(("adapt", "adapters", "converters", "register_adapter", "register_converter", "PrepareProtocol", "PARSE_DECLTYPES", "PARSE_COLNAMES"),
                    "sqlvec.dbapi.adapt"),
    **dict.fromkeys(("Warning", "Error", "InterfaceError", "DatabaseError", "DataError", "OperationalError", "IntegrityError", "InternalError",
                     "ProgrammingError", "NotSupportedError"), "sqlvec.dbapi.exceptions"),
    **dict.fromkeys(("Binary", "Date", "Time", "Timestamp", "DateFromTicks", "TimeFromTicks", "TimestampFromTicks", "complete_statement",
                     "analyze", "enable_shared_cache"), "sqlvec.dbapi.module"),
    "enable_callback_tracebacks": "sqlvec.dbapi.callbacks",
}

apilevel = "2.0"
paramstyle = "qmark"
threadsafety = 3
sqlite_version = "3.40.1"
sqlite_version_info = (3, 40, 1)
version = "2.6.0"
version_info = (2, 6, 0)


def __getattr__(name: str) -> object:
    module = _EXPORTS.get(name)
    if module is not None:
        return resolve(f"{module}:{name}")
    if name == "dbapi2":
        return sys.modules[__name__]
    if name.startswith("SQLITE_") or name == "OptimizedUnicode":
        return resolve("sqlvec.dbapi.module:constant")(name)
    raise AttributeError(f"module 'sqlvec' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS, *resolve("sqlvec.dbapi.module:constant_names")()})
