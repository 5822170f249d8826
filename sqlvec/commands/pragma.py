"""PRAGMA: one table of rows, one handler each.

A row says the result column names, the handler, and what arguments the table-valued function ``pragma_NAME`` takes, if there is one.  Handlers live in
pragma_settings (switches of the connection), pragma_storage (file and pager), pragma_schema (what exists) and
pragma_check (integrity); their signature is ``handler(call) -> list of rows | None`` with a :class:`PragmaCall`.  None means: no result columns at all
(the silent set forms).  Unknown pragmas do nothing.

Follows "PRAGMA Statements" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Rows = Iterable[tuple[Any, ...]]

_SETTINGS = "sqlvec.commands.pragma_settings:"
_STORAGE = "sqlvec.commands.pragma_storage:"
_SCHEMA = "sqlvec.commands.pragma_schema:"
_CHECK = "sqlvec.commands.pragma_check:"

# hidden columns of the table-valued function
_PLAIN: tuple[str, ...] = ()
_ARGUMENT = ("arg",)
_OF_SCHEMA = ("schema",)
_BOTH = ("arg", "schema")

# name: (result columns, handler, hidden columns of the table-valued function or None where there is no such function)
PRAGMAS: dict[str, tuple[tuple[str, ...], str, tuple[str, ...] | None]] = {
    "analysis_limit": (("analysis_limit",), _SETTINGS + "analysis_limit", _PLAIN),
    "application_id": (("application_id",), _STORAGE + "header_value", _PLAIN),
    "auto_vacuum": (("auto_vacuum",), _STORAGE + "auto_vacuum", _OF_SCHEMA),
    "automatic_index": (("automatic_index",), _SETTINGS + "flag", _PLAIN),
    "busy_timeout": (("timeout",), _SETTINGS + "busy_timeout", _PLAIN),
    "cache_size": (("cache_size",), _STORAGE + "cache_size", _OF_SCHEMA),
    "cache_spill": (("cache_spill",), _STORAGE + "cache_spill", _OF_SCHEMA),
    "case_sensitive_like": ((), _SETTINGS + "case_sensitive_like", None),
    "cell_size_check": (("cell_size_check",), _SETTINGS + "flag", _PLAIN),
    "checkpoint_fullfsync": (("checkpoint_fullfsync",), _SETTINGS + "flag", _PLAIN),
    "collation_list": (("seq", "name"), _SCHEMA + "collation_list", _PLAIN),
    "compile_options": (("compile_options",), _SCHEMA + "compile_options", _PLAIN),
    "count_changes": (("count_changes",), _SETTINGS + "flag", _PLAIN),
    "data_version": (("data_version",), _STORAGE + "data_version", _PLAIN),
    "database_list": (("seq", "name", "file"), _SCHEMA + "database_list", _PLAIN),
    "default_cache_size": (("cache_size",), _STORAGE + "default_cache_size", _OF_SCHEMA),
    "defer_foreign_keys": (("defer_foreign_keys",), _SETTINGS + "flag", _PLAIN),
    "empty_result_callbacks": (("empty_result_callbacks",), _SETTINGS + "flag", _PLAIN),
    "encoding": (("encoding",), _STORAGE + "encoding", _PLAIN),
    "foreign_key_check": (("table", "rowid", "parent", "fkid"), _CHECK + "foreign_key_check", _BOTH),
    "foreign_key_list": (("id", "seq", "table", "from", "to", "on_update", "on_delete", "match"), _SCHEMA + "foreign_key_list", _BOTH),
    "foreign_keys": (("foreign_keys",), _SETTINGS + "flag", _PLAIN),
    "freelist_count": (("freelist_count",), _STORAGE + "freelist_count", _PLAIN),
    "full_column_names": (("full_column_names",), _SETTINGS + "flag", _PLAIN),
    "fullfsync": (("fullfsync",), _SETTINGS + "flag", _PLAIN),
    "function_list": (("name", "builtin", "type", "enc", "narg", "flags"), _SCHEMA + "function_list", _PLAIN),
    "hard_heap_limit": (("hard_heap_limit",), _SETTINGS + "heap_limit", _PLAIN),
    "ignore_check_constraints": (("ignore_check_constraints",), _SETTINGS + "flag", _PLAIN),
    "incremental_vacuum": ((), _STORAGE + "incremental_vacuum", None),
    "index_info": (("seqno", "cid", "name"), _SCHEMA + "index_info", _BOTH),
    "index_list": (("seq", "name", "unique", "origin", "partial"), _SCHEMA + "index_list", _BOTH),
    "index_xinfo": (("seqno", "cid", "name", "desc", "coll", "key"), _SCHEMA + "index_xinfo", _BOTH),
    "integrity_check": (("integrity_check",), _CHECK + "integrity_check", _BOTH),
    "journal_mode": (("journal_mode",), _STORAGE + "journal_mode", _OF_SCHEMA),
    "journal_size_limit": (("journal_size_limit",), _STORAGE + "journal_size_limit", _OF_SCHEMA),
    "legacy_alter_table": (("legacy_alter_table",), _SETTINGS + "flag", _PLAIN),
    "locking_mode": (("locking_mode",), _STORAGE + "locking_mode", _OF_SCHEMA),
    "max_page_count": (("max_page_count",), _STORAGE + "max_page_count", _OF_SCHEMA),
    "mmap_size": (("mmap_size",), _STORAGE + "mmap_size", None),
    "module_list": (("name",), _SCHEMA + "module_list", _PLAIN),
    "optimize": (("optimize",), _CHECK + "optimize", _ARGUMENT),
    "page_count": (("page_count",), _STORAGE + "page_count", _OF_SCHEMA),
    "page_size": (("page_size",), _STORAGE + "page_size", _OF_SCHEMA),
    "pragma_list": (("name",), _SCHEMA + "pragma_list", _PLAIN),
    "query_only": (("query_only",), _SETTINGS + "flag", _PLAIN),
    "quick_check": (("quick_check",), _CHECK + "quick_check", _BOTH),
    "read_uncommitted": (("read_uncommitted",), _SETTINGS + "flag", _PLAIN),
    "recursive_triggers": (("recursive_triggers",), _SETTINGS + "flag", _PLAIN),
    "reverse_unordered_selects": (("reverse_unordered_selects",), _SETTINGS + "flag", _PLAIN),
    "schema_version": (("schema_version",), _STORAGE + "header_value", _PLAIN),
    "secure_delete": (("secure_delete",), _STORAGE + "secure_delete", _PLAIN),
    "short_column_names": (("short_column_names",), _SETTINGS + "flag", _PLAIN),
    "shrink_memory": ((), _SETTINGS + "shrink_memory", None),
    "soft_heap_limit": (("soft_heap_limit",), _SETTINGS + "heap_limit", _PLAIN),
    "sqlvec_analyze": (("analysis",), _SETTINGS + "analyze", None),
    "sqlvec_analyze_json": (("analysis",), _SETTINGS + "analyze_json", None),
    "sqlvec_engine": (("sqlvec_engine",), _SETTINGS + "engine", None),
    "sqlvec_memory_budget": (("sqlvec_memory_budget",), _SETTINGS + "memory_budget", None),
    "synchronous": (("synchronous",), _STORAGE + "synchronous", _OF_SCHEMA),
    "table_info": (("cid", "name", "type", "notnull", "dflt_value", "pk"), _SCHEMA + "table_info", _BOTH),
    "table_list": (("schema", "name", "type", "ncol", "wr", "strict"), _SCHEMA + "table_list", _ARGUMENT),
    "table_xinfo": (("cid", "name", "type", "notnull", "dflt_value", "pk", "hidden"), _SCHEMA + "table_xinfo", _BOTH),
    "temp_store": (("temp_store",), _SETTINGS + "temp_store", _PLAIN),
    "temp_store_directory": ((), _SETTINGS + "temp_store_directory", None),
    "threads": (("threads",), _SETTINGS + "threads", _PLAIN),
    "trusted_schema": (("trusted_schema",), _SETTINGS + "flag", _PLAIN),
    "user_version": (("user_version",), _STORAGE + "header_value", _PLAIN),
    "wal_autocheckpoint": (("wal_autocheckpoint",), _STORAGE + "wal_autocheckpoint", None),
    "wal_checkpoint": (("busy", "log", "checkpointed"), _STORAGE + "wal_checkpoint", None),
    "writable_schema": (("writable_schema",), _SETTINGS + "flag", _PLAIN),
}


# those that SQLite compiles against the schema: damage to it shows here, and it does so while preparing
NEED_SCHEMA = frozenset((
    "auto_vacuum", "cache_size", "default_cache_size", "foreign_key_check", "foreign_key_list", "incremental_vacuum", "index_info", "index_list",
    "index_xinfo", "integrity_check", "journal_mode", "max_page_count", "optimize", "page_count", "quick_check", "synchronous", "table_info",
    "table_list", "table_xinfo", "wal_checkpoint",
))


class PragmaCall:
    """One use of a pragma: its ``name``, the database ``number`` (0 without a qualifier) and whether it was ``qualified``, the ``value`` text or None,
    and the command ``context``."""

    __slots__ = ("context", "name", "number", "qualified", "value")

    def __init__(self, context: Any, name: str, number: int, qualified: bool, value: str | None) -> None:
        self.context = context
        self.name = name
        self.number = number
        self.qualified = qualified
        self.value = value

    @property
    def database(self) -> Any:
        return self.context.databases[self.number]

    @property
    def pager(self) -> Any:
        return self.context.databases[self.number].pager

    def boolean(self, default: bool = False) -> bool:
        """The value as a boolean word or number."""
        return bool(safety_level(self.value or "", True, int(default)))

    def integer(self) -> int:
        """The leading integer of the value, 0 where there is none or it does not fit in 32 bits."""
        return leading_integer(self.value or "")

    def read(self) -> Any:
        """The pager, in a read transaction that ends with the statement."""
        self.context.transaction.begin_read(self.number)
        return self.pager

    def write(self) -> Any:
        """The pager, in a write transaction of this statement."""
        self.context.statement.becomes_write()
        if self.context.settings.query_only:
            raise errors.readonly()
        self.context.transaction.begin_write(self.number)
        return self.pager


_WORDS = {"on": 1, "no": 0, "off": 0, "false": 0, "yes": 1, "true": 1, "extra": 3, "full": 2}


def safety_level(text: str, only_boolean: bool, default: int) -> int:
    """A word or number as a level: off 0, on 1, full 2, extra 3."""
    if text[:1].isdigit():
        return leading_integer(text)
    word = text.lower()
    if word in _WORDS and not (only_boolean and word in ("extra", "full")):
        return _WORDS[word]
    return default


def leading_integer(text: str) -> int:
    """``[+-]digits`` or ``0x`` hex at the start of the text, as a 32-bit integer; 0 otherwise."""
    sign = 1
    if text[:1] in ("-", "+"):
        sign = -1 if text[0] == "-" else 1
        text = text[1:]
    if text[:2].lower() == "0x":
        digits = ""
        for char in text[2:]:
            if char not in "0123456789abcdefABCDEF":
                break
            digits += char
        value = int(digits, 16) if 0 < len(digits) <= 8 else 0
        return sign * value if value < 0x80000000 else 0
    digits = ""
    for char in text:
        if not ("0" <= char <= "9"):
            break
        digits += char
    value = sign * int(digits) if digits else 0
    return value if -0x80000000 <= value <= 0x7FFFFFFF else 0


def pragma(context: Any, statement: Any, sql: str) -> tuple[tuple[str, ...], Rows] | None:
    """The command handler of PRAGMA.  Errors: "unknown database NAME" and those of the handlers."""
    qualified = statement.schema is not None
    number = 0
    if qualified:
        found = context.databases.number_of(statement.schema.text)
        if found is None:
            raise errors.plain(f"unknown database {statement.schema.text}", statement.schema.span[0])
        number = found
    name = statement.name.text.lower()
    if name in NEED_SCHEMA or (name == "encoding" and statement.value is None):
        context.databases.read_schema(number)
    return answer(context, statement.name.text, number, qualified, statement.value)


def answer(context: Any, name: str, number: int, qualified: bool, value: str | None) -> tuple[tuple[str, ...], Rows] | None:
    """Run one pragma: (names, rows), or None where it has no result."""
    entry = PRAGMAS.get(name.lower())
    if entry is None:
        return None
    rows = resolve(entry[1])(PragmaCall(context, name.lower(), number, qualified, value))
    return None if rows is None else (entry[0], rows)
