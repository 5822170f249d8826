"""Pragmas about the file and its pager.  Handlers take a PragmaCall (commands/pragma.py)."""
from __future__ import annotations

from sqlvec import errors
from sqlvec.commands.pragma import leading_integer, safety_level
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.commands.pragma import PragmaCall

    Rows = list[tuple[Any, ...]] | None

_HEADER_FIELDS = {"user_version": "user_version", "application_id": "application_id", "schema_version": "schema_cookie"}
JOURNAL_MODES = ("delete", "persist", "off", "truncate", "memory", "wal")
ENCODINGS = {"utf-8": "UTF-8", "utf-16-le": "UTF-16le", "utf-16-be": "UTF-16be"}
_ENCODING_WORDS = {
    "utf8": "utf-8", "utf-8": "utf-8", "utf-16le": "utf-16-le", "utf16le": "utf-16-le", "utf-16be": "utf-16-be", "utf16be": "utf-16-be",
    "utf-16": "utf-16-le", "utf16": "utf-16-le",
}


def _signed(value: int) -> int:
    return value - 0x100000000 if value >= 0x80000000 else value


def header_value(call: PragmaCall) -> Rows:
    """user_version, application_id, schema_version: 32-bit fields of the file header."""
    field = _HEADER_FIELDS[call.name]
    if call.value is None:
        return [(_signed(getattr(call.read(), field)),)]
    pager = call.write()
    setattr(pager, field, call.integer() & 0xFFFFFFFF)
    if field == "schema_cookie":
        call.context.databases.install(call.number, None)
    return None


def auto_vacuum(call: PragmaCall) -> Rows:
    if call.value is None:
        return [(call.read().auto_vacuum,)]
    word = call.value.lower()
    mode = {"none": 0, "full": 1, "incremental": 2}.get(word)
    if mode is None:
        mode = leading_integer(word)
        if mode not in (0, 1, 2):
            mode = 0
    pager = call.read()
    pager.pending_auto_vacuum = pager.next_auto_vacuum = mode
    if pager.page_count and mode and pager.auto_vacuum and pager.auto_vacuum != mode:
        call.write().auto_vacuum = mode
    elif not pager.page_count:
        pager.auto_vacuum = mode
        if mode:
            call.write()                        # writes page 1, which says so
    return None


def incremental_vacuum(call: PragmaCall) -> Rows:
    if call.read().auto_vacuum:
        count = call.integer() if call.value is not None else 0
        resolve("sqlvec.pages.auto_vacuum:incremental_vacuum")(call.write(), count)
    return None


def cache_size(call: PragmaCall) -> Rows:
    if call.value is None:
        return [(call.pager.cache_size,)]
    call.pager.cache_size = call.integer()
    return None


def default_cache_size(call: PragmaCall) -> Rows:
    if call.value is None:
        stored = call.read().default_cache_size
        return [(_signed(stored) if stored else -2000,)]
    size = abs(call.integer())
    call.write().default_cache_size = size
    call.pager.cache_size = size
    return None


def cache_spill(call: PragmaCall) -> Rows:
    pager = call.pager
    if call.value is None:
        return [(_spill_pages(pager) if pager.cache_spill else 0,)]
    pager.cache_spill = call.boolean() if not call.value[:1].isdigit() else call.integer() != 0
    return None


def _spill_pages(pager: Any) -> int:
    size = pager.cache_size
    return int(size if size > 0 else -1024 * size // (pager.page_size + 136))


def data_version(call: PragmaCall) -> Rows:
    return [(call.read().data_version,)]


def page_size(call: PragmaCall) -> Rows:
    if call.value is None:
        return [((call.read() if call.pager.file is not None else call.pager).page_size,)]
    size = call.integer()
    pager = call.read()
    pager.pending_page_size = size if 512 <= size <= 65536 and not size & (size - 1) else 0
    pager.set_page_size(size)
    return None


def page_count(call: PragmaCall) -> Rows:
    return [(call.read().page_count,)]


def freelist_count(call: PragmaCall) -> Rows:
    return [(call.read().freelist_count,)]


def max_page_count(call: PragmaCall) -> Rows:
    pager = call.read()
    if call.value is not None:
        wanted = call.integer()
        if wanted > 0:
            pager.max_page_count = max(wanted, pager.page_count)
    return [(pager.max_page_count,)]


def secure_delete(call: PragmaCall) -> Rows:
    if call.value is not None:
        mode = 2 if call.value.lower() == "fast" else int(call.boolean())
        targets = [call.pager] if call.qualified else [database.pager for _, database in call.context.databases.opened()]
        for pager in targets:
            pager.secure_delete = mode
    return [(int(call.pager.secure_delete),)]


def synchronous(call: PragmaCall) -> Rows:
    if call.value is None:
        return [(call.pager.synchronous,)]
    if not call.context.transaction.autocommit:
        raise errors.plain("Safety level may not be changed inside a transaction")
    if call.number != 1:
        call.pager.synchronous = (safety_level(call.value, False, 1) + 1 & 7 or 1) - 1
    return None


def journal_mode(call: PragmaCall) -> Rows:
    """Query or change the journal mode; without a qualifier of all databases, answering for main."""
    word = (call.value or "").lower()
    wanted = next((mode for mode in JOURNAL_MODES if word == mode), None)
    if wanted is not None:
        numbers = [call.number] if call.qualified else [number for number, _ in call.context.databases.opened()]
        for number in numbers:
            pager = call.context.databases[number].pager
            resolve("sqlvec.pages.journal_mode:set_journal_mode")(pager, wanted, call.context.transaction.autocommit)
    else:
        call.read()
    return [(call.pager.mode,)]


def journal_size_limit(call: PragmaCall) -> Rows:
    if call.value is not None:
        value = call.integer()
        call.pager.journal_size_limit = max(-1, value)
    return [(call.pager.journal_size_limit,)]


def locking_mode(call: PragmaCall) -> Rows:
    word = (call.value or "").lower()
    if word in ("normal", "exclusive"):
        targets = [call.pager] if call.qualified else [database.pager for _, database in call.context.databases.opened()]
        for pager in targets:
            pager.exclusive_locking = word == "exclusive"
    pager = call.pager
    return [("exclusive" if pager.exclusive_locking or (pager.file is None and call.number == 1) else "normal",)]


def mmap_size(call: PragmaCall) -> Rows:
    if call.pager.file is None:
        return None
    if call.value is not None:
        digits = call.value if call.value.lstrip("-").isdigit() else "0"
        call.pager.mmap_size = min(max(0, int(digits)), 0x7FFF0000)
    return [(getattr(call.pager, "mmap_size", 0),)]


def encoding(call: PragmaCall) -> Rows:
    if call.value is None:
        return [(ENCODINGS[call.read().encoding],)]
    call.read()
    if call.context.databases.has_fixed_encoding():
        return None
    name = _ENCODING_WORDS.get(call.value.lower())
    if name is None:
        raise errors.plain(f"unsupported encoding: {call.value}")
    call.context.databases.set_encoding(name)
    return None


def wal_autocheckpoint(call: PragmaCall) -> Rows:
    if call.value is not None:
        call.pager.wal_autocheckpoint = max(0, call.integer())
    return [(call.pager.wal_autocheckpoint,)]


def wal_checkpoint(call: PragmaCall) -> Rows:
    word = (call.value or "").lower()
    mode = word if word in ("full", "restart", "truncate") else "passive"
    databases = call.context.databases
    numbers = [call.number] if call.qualified else [number for number in range(len(databases)) if databases[number].is_open]
    if any(databases[number].pager.in_read for number in numbers):
        raise errors.table_locked_plain()
    rows = []
    for number in numbers:
        call.context.transaction.begin_read(number)
        pager = databases[number].pager
        rows.append((0, -1, -1) if pager.wal is None else resolve("sqlvec.pages.checkpoint:run_checkpoint")(pager, mode))
    return rows[:1]
