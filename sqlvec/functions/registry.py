"""The function registry: which SQL functions exist, with how many arguments, and how each is called.

Built-in families are rows of tables (``functions/builtin_table.py``) that name ``"module:attribute"``; an entry object is made at the
first look-up and its module is imported at the first call, so a query pays for the functions it uses.  Each connection has one
:class:`FunctionRegistry`; functions that a user or the shell defines live in it and hide built-in ones of the same name.  Every
change bumps ``generation``; plans record it.

Calling conventions of ``ScalarFunction.call`` (never both flags at once):
* plain: ``call(*args)``
* ``context``: ``call(function_context, *args)``, a :class:`FunctionContext`
* ``uses_collation``: ``call(collation, *args)`` with the bound Collation object of the call

Aggregates: ``start()`` makes a state with ``step(*args)``, ``value()`` and, where a sliding frame can shrink, ``inverse(*args)``;
``kind`` lets engines specialise.  An aggregate with ``uses_collation`` (min, max) is started with ``start(collation)``, one with
``context`` with ``start(function_context)``.

Follows the manual's "Built-In Scalar SQL Functions" and "Application-Defined SQL Functions".

What a function may know about its connection and statement: clock, counters, random numbers, limits.

Functions are below the session; whoever runs a statement hands one :class:`FunctionContext` down.  The session subclasses it or
assigns the callables.  The clock is fixed per statement: ``now()`` answers the same until ``new_statement()``.
"""
from __future__ import annotations

import time

from sqlvec.resolve import resolve
from sqlvec.values.compare import Collations
from sqlvec.values.text import UTF8, adopt, lower

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


DETERMINISTIC = 0x800
DIRECT_ONLY = 0x80000
SUBTYPE = 0x100000
INNOCUOUS = 0x200000


class ScalarFunction:
    """One scalar function (one arity range of one name).

    ``may_raise``: a call can raise for some arguments.  ``json_result``: returns JsonText; ``json_args``: looks at the subtype of
    its arguments.  ``slow_change``: constant within a statement though not deterministic (date functions with 'now').
    """

    __slots__ = (
        "_call", "_target", "builtin", "context", "deterministic", "flags", "json_args", "json_result", "max_args", "may_raise",
        "min_args", "name", "uses_collation",
    )
    is_aggregate = False
    is_window = False

    def __init__(
        self,
        name: str,
        min_args: int,
        max_args: int,
        target: str | Callable[..., Any],
        flags: int = DETERMINISTIC | INNOCUOUS,
        context: bool = False,
        uses_collation: bool = False,
        may_raise: bool = False,
        json_result: bool = False,
        json_args: bool = False,
        builtin: bool = True,
    ) -> None:
        self.name = name
        self.min_args = min_args
        self.max_args = max_args
        self._target = target if isinstance(target, str) else None
        self._call = None if isinstance(target, str) else target
        self.flags = flags
        self.deterministic = bool(flags & DETERMINISTIC)
        self.context = context
        self.uses_collation = uses_collation
        self.may_raise = may_raise
        self.json_result = json_result
        self.json_args = json_args
        self.builtin = builtin

    @property
    def call(self) -> Callable[..., Any]:
        """The Python function; engines read it once per compiled expression."""
        if self._call is None:
            self._call = resolve(self._target)  # type: ignore[arg-type]
        return self._call

    @property
    def direct_only(self) -> bool:
        return bool(self.flags & DIRECT_ONLY)

    @property
    def innocuous(self) -> bool:
        return bool(self.flags & INNOCUOUS)

    def __repr__(self) -> str:
        return f"ScalarFunction({self.name}/{self.min_args}..{self.max_args})"


class AggregateFunction:
    """One aggregate function.  ``kind`` names the built-in ones ('count', 'sum', ...) and is 'user' for others."""

    __slots__ = (
        "_start", "_target", "builtin", "can_window", "context", "deterministic", "flags", "json_args", "json_result", "kind", "max_args",
        "may_raise", "min_args", "name", "uses_collation",
    )
    is_aggregate = True
    is_window = False

    def __init__(
        self,
        name: str,
        min_args: int,
        max_args: int,
        target: str | Callable[..., Any],
        kind: str = "user",
        flags: int = INNOCUOUS,
        uses_collation: bool = False,
        context: bool = False,
        may_raise: bool = False,
        json_result: bool = False,
        json_args: bool = False,
        can_window: bool = True,
        builtin: bool = True,
        deterministic: bool = True,
    ) -> None:
        self.name = name
        self.min_args = min_args
        self.max_args = max_args
        self._target = target if isinstance(target, str) else None
        self._start = None if isinstance(target, str) else target
        self.kind = kind
        self.flags = flags
        self.uses_collation = uses_collation
        self.context = context
        self.may_raise = may_raise
        self.json_result = json_result
        self.json_args = json_args
        self.can_window = can_window
        self.builtin = builtin
        self.deterministic = deterministic

    @property
    def start(self) -> Callable[..., Any]:
        """Makes a fresh state (a class): ``step``, ``value``, ``inverse``."""
        if self._start is None:
            self._start = resolve(self._target)  # type: ignore[arg-type]
        return self._start

    @property
    def direct_only(self) -> bool:
        return bool(self.flags & DIRECT_ONLY)

    @property
    def innocuous(self) -> bool:
        return bool(self.flags & INNOCUOUS)

    def __repr__(self) -> str:
        return f"AggregateFunction({self.name}/{self.min_args}..{self.max_args})"


class WindowFunction:
    """A function that exists only with OVER: row_number, rank, lag, first_value ...; ``kind`` is its name."""

    __slots__ = ("flags", "kind", "max_args", "min_args", "name")
    is_aggregate = False
    is_window = True
    builtin = True
    deterministic = True
    uses_collation = False
    direct_only = False
    innocuous = True
    may_raise = True

    def __init__(self, name: str, min_args: int, max_args: int) -> None:
        self.name = name
        self.kind = name
        self.min_args = min_args
        self.max_args = max_args
        self.flags = INNOCUOUS

    def __repr__(self) -> str:
        return f"WindowFunction({self.name}/{self.min_args}..{self.max_args})"


class FunctionRegistry:
    """The functions of one connection."""

    __slots__ = ("_cache", "_user", "extra_table", "generation")

    def __init__(self) -> None:
        self.generation = 0
        self._user: dict[str, list[Any]] = {}
        self.extra_table = ""  # "module:ROWS", a table like the built-in one that only this connection knows (the shell's)
        self._cache: dict[tuple[str, int], Any] = {}

    # --- look-up -------------------------------------------------------------------------------------------------------------

    def lookup(self, name: str, nargs: int) -> Any:
        """The function to call for this name and number of arguments, or None.

        A user's function of the name hides the built-in ones if it accepts the number of arguments; an exact arity wins over a
        variable one.
        """
        key = (name, nargs)
        found = self._cache.get(key)
        if found is None:
            folded = lower(name)
            found = _best(self._user.get(folded, ()), nargs) or _builtin(folded, nargs) or self._extra(folded, nargs)
            if found is not None:
                self._cache[key] = found
        return found

    def knows(self, name: str) -> bool:
        """True when the name exists with any number of arguments."""
        folded = lower(name)
        return folded in self._user or _knows_builtin(folded) or (self.extra_table != "" and folded in resolve(self.extra_table))

    def entries(self) -> Iterator[Any]:
        """All functions, built-in ones first (``PRAGMA function_list``)."""
        for name in resolve("sqlvec.functions.builtin_table:ROWS"):
            yield from builtin_entries(name)
        if self.extra_table:
            for name, rows in resolve(self.extra_table).items():
                yield from (entry_of_row((name, *row), builtin=False) for row in rows)
        for functions in self._user.values():
            yield from functions

    def _extra(self, name: str, nargs: int) -> Any:
        rows = resolve(self.extra_table).get(name) if self.extra_table else None
        return None if rows is None else _best([entry_of_row((name, *row), builtin=False) for row in rows], nargs)

    # --- definition ----------------------------------------------------------------------------------------------------------

    def define(self, function: Any) -> None:
        """Add an entry object; it replaces a user function of the same name and arity."""
        known = self._user.setdefault(lower(function.name), [])
        known[:] = [old for old in known if (old.min_args, old.max_args) != (function.min_args, function.max_args)]
        known.append(function)
        self._changed()

    def remove(self, name: str, nargs: int) -> None:
        """Remove the user function of this name and arity."""
        folded = lower(name)
        arity = _arity(nargs)
        known = [old for old in self._user.get(folded, ()) if (old.min_args, old.max_args) != arity]
        if known:
            self._user[folded] = known
        else:
            self._user.pop(folded, None)
        self._changed()

    def define_scalar(self, name: str, nargs: int, function: Callable[..., Any] | None, flags: int = 0) -> None:
        """A scalar function of the user; None removes it.  ``nargs`` -1 accepts any number.  ``flags``: DETERMINISTIC, DIRECT_ONLY, INNOCUOUS."""
        if function is None:
            self.remove(name, nargs)
            return

        def call(*args: Any) -> Any:
            return from_user(function(*args))

        self.define(ScalarFunction(name, *_arity(nargs), call, flags, may_raise=True, builtin=False))

    def define_aggregate(self, name: str, nargs: int, factory: Callable[[], Any] | None, can_window: bool = False) -> None:
        """An aggregate of the user; ``factory()`` makes states with ``step``, ``value`` and perhaps ``inverse``."""
        if factory is None:
            self.remove(name, nargs)
            return
        self.define(
            AggregateFunction(
                name, *_arity(nargs), factory, flags=0, may_raise=True, can_window=can_window, builtin=False, deterministic=False
            )
        )

    def set_case_sensitive_like(self, is_on: bool) -> None:
        """PRAGMA case_sensitive_like: replaces both forms of like(), by functions that nobody knows to be deterministic."""
        self._user.pop("like", None)
        target = "sqlvec.functions.pattern:like_case_sensitive" if is_on else "sqlvec.functions.pattern:like"
        for nargs in (2, 3):
            self.define(ScalarFunction("like", nargs, nargs, target, INNOCUOUS, may_raise=True))

    def _changed(self) -> None:
        self.generation += 1
        self._cache.clear()


def from_user(value: Any) -> Any:
    """A value that a user's Python function returned."""
    kind = type(value)
    if kind is str:
        return adopt(value)
    if kind is float:
        return value if value == value else None
    if kind is bool:
        return int(value)
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    return value


def _arity(nargs: int) -> tuple[int, int]:
    return (0, -1) if nargs < 0 else (nargs, nargs)


def _best(candidates: Any, nargs: int) -> Any:
    variable = None
    for function in candidates:
        if function.min_args == nargs == function.max_args:
            return function
        if function.min_args <= nargs and (function.max_args < 0 or nargs <= function.max_args):
            variable = function
    return variable


_builtin_entries: dict[str, list[Any]] = {}


def _rows_of(name: str) -> Any:
    return resolve("sqlvec.functions.builtin_table:ROWS").get(name)


def _builtin(name: str, nargs: int) -> Any:
    """The built-in entry, one object per process and arity."""
    return _best(builtin_entries(name), nargs)


def builtin_entries(name: str) -> list[Any]:
    """All built-in entries of a folded name; empty when there is none."""
    entries = _builtin_entries.get(name)
    if entries is None:
        rows = _rows_of(name)
        if rows is None:
            return []
        entries = _builtin_entries[name] = [entry_of_row((name, *row)) for row in rows]
    return entries


def _knows_builtin(name: str) -> bool:
    return _rows_of(name) is not None


def entry_of_row(row: tuple[Any, ...], builtin: bool = True) -> Any:
    """An entry from a table row ``(name, min_args, max_args, target, words)``.

    ``words`` is a string of: ``context collation raises json_result json_args volatile direct_only unsafe aggregate:KIND window
    no_window``; without ``volatile`` a function is deterministic, without ``unsafe`` innocuous.
    """
    name, low, high, target, words = row
    marks = words.split()
    if "window" in marks:
        return WindowFunction(name, low, high)
    flags = 0 if "volatile" in marks else DETERMINISTIC
    if "unsafe" not in marks:
        flags |= INNOCUOUS
    if "direct_only" in marks:
        flags |= DIRECT_ONLY
    common = {
        "uses_collation": "collation" in marks,
        "context": "context" in marks,
        "may_raise": "raises" in marks,
        "json_result": "json_result" in marks,
        "json_args": "json_args" in marks,
        "builtin": builtin,
    }
    for mark in marks:
        if mark.startswith("aggregate:"):
            flags &= ~DETERMINISTIC
            if mark == "aggregate:json":
                flags = DETERMINISTIC | SUBTYPE
            return AggregateFunction(name, low, high, target, mark[10:], flags, can_window="no_window" not in marks, **common)
    return ScalarFunction(name, low, high, target, flags, **common)


def _zero() -> int:
    return 0


class FunctionContext:
    """``changes``, ``total_changes``, ``last_insert_rowid`` are callables of the session; ``collations`` the connection's;
    ``run_sql(sql, *parameters) -> rows`` exists for shell functions that query (sha3_query)."""

    __slots__ = ("_now", "changes", "collations", "encoding", "last_insert_rowid", "run_sql", "total_changes")

    def __init__(self, collations: Collations | None = None, encoding: int = UTF8) -> None:
        self.collations = collations or Collations(encoding)
        self.encoding = encoding
        self.changes: Callable[[], int] = _zero
        self.total_changes: Callable[[], int] = _zero
        self.last_insert_rowid: Callable[[], int] = _zero
        self.run_sql: Callable[..., Any] | None = None
        self._now: int | None = None

    def new_statement(self) -> None:
        """Forget the clock: the next look fixes it for the statement that now starts."""
        self._now = None

    def now(self) -> int:
        """Milliseconds since the start of the Julian day count, fixed per statement."""
        if self._now is None:
            self._now = time.time_ns() // 1000000 + 210866760000000
        return self._now

    def random_bytes(self, count: int) -> bytes:
        return resolve("os:urandom")(count)
