"""Pragmas that switch the connection: flags, limits, timeouts.  Handlers take a PragmaCall (commands/pragma.py)."""
from __future__ import annotations

from sqlvec import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.commands.pragma import PragmaCall

    Rows = list[tuple[Any, ...]] | None


def flag(call: PragmaCall) -> Rows:
    """A boolean of Settings under the pragma's own name."""
    settings = call.context.settings
    if call.value is None:
        return [(int(getattr(settings, call.name)),)]
    if call.name == "foreign_keys" and not call.context.transaction.autocommit:
        return None
    if call.name == "writable_schema" and call.value.lower() == "reset":
        settings.writable_schema = False
        for number in range(len(call.context.databases)):
            call.context.databases.install(number, None)
        return None
    setattr(settings, call.name, call.boolean())
    if call.name == "defer_foreign_keys" and not settings.defer_foreign_keys:
        call.context.transaction.deferred_violations = 0
    settings.changed()
    return None


def case_sensitive_like(call: PragmaCall) -> Rows:
    if call.value is not None:
        is_on = call.boolean()
        call.context.settings.case_sensitive_like = is_on
        call.context.functions.set_case_sensitive_like(is_on)
        call.context.settings.changed()
    return None


def analysis_limit(call: PragmaCall) -> Rows:
    settings = call.context.settings
    if call.value is not None:
        settings.analysis_limit = max(0, call.integer())
    return [(settings.analysis_limit,)]


def busy_timeout(call: PragmaCall) -> Rows:
    settings = call.context.settings
    if call.value is not None:
        settings.busy_timeout = max(0, call.integer())
    return [(settings.busy_timeout,)]


def heap_limit(call: PragmaCall) -> Rows:
    settings = call.context.settings
    if call.value is not None and call.integer() >= 0 and call.value[:1].isdigit():
        setattr(settings, call.name, call.integer())
    return [(getattr(settings, call.name),)]


def threads(call: PragmaCall) -> Rows:
    settings = call.context.settings
    if call.value is not None and call.value[:1].isdigit():
        settings.threads = min(8, call.integer())
    return [(settings.threads,)]


def shrink_memory(call: PragmaCall) -> Rows:
    return None


def temp_store(call: PragmaCall) -> Rows:
    settings = call.context.settings
    if call.value is None:
        return [(settings.temp_store,)]
    word = call.value.lower()
    wanted = int(word[0]) if word[:1] in ("0", "1", "2") else {"file": 1, "memory": 2}.get(word, 0)
    temp = call.context.databases[1]
    if wanted != settings.temp_store and temp.is_open:
        if not call.context.transaction.autocommit or temp.pager.in_write:
            raise errors.plain("temporary storage cannot be changed from within a transaction")
        call.context.databases.forget_temp()
    settings.temp_store = wanted
    return None


def temp_store_directory(call: PragmaCall) -> Rows:
    if call.value is not None:
        call.context.settings.temp_store_directory = call.value
    return None


def engine(call: PragmaCall) -> Rows:
    """``PRAGMA sqlvec_engine``: which engine runs plans (an extension)."""
    settings = call.context.settings
    if call.value is None:
        return [(settings.engine,)]
    settings.engine = call.value.lower()
    settings.changed()
    return None


def analyze(call: PragmaCall) -> Rows:
    """``PRAGMA sqlvec_analyze('SELECT ...')``: run the statement and tell what each part of its plan did, a line a row (an extension)."""
    return [(line,) for line in call.context.session.analyze(call.value or "").lines()]


def analyze_json(call: PragmaCall) -> Rows:
    """``PRAGMA sqlvec_analyze_json('SELECT ...')``: the same as JSON, in one row (an extension)."""
    return [(call.context.session.analyze(call.value or "").json(),)]


def memory_budget(call: PragmaCall) -> Rows:
    """``PRAGMA sqlvec_memory_budget``: bytes the vector engine may hold before it spills (an extension)."""
    settings = call.context.settings
    if call.value is not None:
        settings.memory_budget = max(1 << 16, int(call.value) if call.value.isdigit() else settings.memory_budget)
    return [(settings.memory_budget,)]
