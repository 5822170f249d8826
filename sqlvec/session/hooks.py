"""What a connection may be asked to call while it works: the progress handler and the trace callback.

Progress: the running engines look at the shared interrupt flag at safe points (``RunContext.interrupt``).  A connection with a progress handler has a
:class:`ProgressFlag` in its place, which counts the looks and calls the handler; without a handler nothing is different from before.  A look is worth
``LOOK_UNITS`` units of work (near what SQLite would count in byte-code instructions): one for each statement begun, each leaf page (row engine), each
batch (vector engine), each run of an inner loop over rows in memory and each row of a recursive query.  The handler is called at most once a look.

Trace: the text of a statement as it begins, with the values of its parameters written in.  Statements of triggers aren't reported.

Follows "sqlite3_progress_handler()", "sqlite3_trace()" and "sqlite3_expanded_sql()" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.parse.lexer import lex
from sqlvec.values.numeric_text import real_to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, SupportsIndex

LOOK_UNITS = 100

LIMITS = {
    "SQLITE_LIMIT_LENGTH": 1_000_000_000, "SQLITE_LIMIT_SQL_LENGTH": 1_000_000_000, "SQLITE_LIMIT_COLUMN": 2000, "SQLITE_LIMIT_EXPR_DEPTH": 1000,
    "SQLITE_LIMIT_COMPOUND_SELECT": 500, "SQLITE_LIMIT_VDBE_OP": 250_000_000, "SQLITE_LIMIT_FUNCTION_ARG": 127, "SQLITE_LIMIT_ATTACHED": 10,
    "SQLITE_LIMIT_LIKE_PATTERN_LENGTH": 50_000, "SQLITE_LIMIT_VARIABLE_NUMBER": 250_000, "SQLITE_LIMIT_TRIGGER_DEPTH": 1000,
    "SQLITE_LIMIT_WORKER_THREADS": 0,
}
"""Run-time limits in the order of their numbers, as this build has them; they are upper bounds too (worker threads: 8)."""
LIMIT_NAMES = tuple(LIMITS)
MOST = {**LIMITS, "SQLITE_LIMIT_WORKER_THREADS": 8}


class ProgressFlag(list):  # type: ignore[type-arg]
    """An interrupt flag that counts the looks at it.  ``handler()`` true interrupts the statement."""

    def __init__(self, requested: bool, handler: Callable[[], Any], every: int) -> None:
        super().__init__((requested,))
        self.handler = handler
        self.every = every
        self.left = every
        self.is_by_handler = False

    def __getitem__(self, place: SupportsIndex | slice) -> Any:
        return super().__getitem__(place) or self._is_stopped()

    def _is_stopped(self) -> bool:
        self.left -= LOOK_UNITS
        if self.left > 0:
            return False
        self.left = self.every
        if self.handler():
            self[0] = self.is_by_handler = True         # until the next statement begins: whoever looks twice sees it twice
            return True
        return False

    def begin(self) -> None:
        """Count the beginning of a statement.  Errors: Interrupted."""
        if self.is_by_handler:
            self[0] = self.is_by_handler = False
        if self._is_stopped():
            raise errors.Interrupted()


def literal(value: Any) -> str:
    """A parameter's value as sqlite3_expanded_sql() writes it."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, float):
        return real_to_text(value)
    if isinstance(value, int):
        return str(value)
    return "x'" + bytes(value).hex() + "'"


def expanded(text: str, names: list[str | None], values: tuple[Any, ...]) -> str:
    """``text`` with the bound values in the places of the parameters."""
    if not names:
        return text
    kinds: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    lex(text, 0, kinds, starts, ends)
    numbers = {name: number for number, name in enumerate(names) if name is not None}
    parts = []
    done = 0
    last = -1
    for kind, start, end in zip(kinds, starts, ends, strict=True):
        if kind != "VARIABLE":
            continue
        word = text[start:end]
        if word == "?":
            place = last + 1
        elif word[0] == "?":
            place = int(word[1:]) - 1
        else:
            place = numbers[word]
        last = max(last, place)
        parts.append(text[done:start])
        parts.append(literal(values[place] if place < len(values) else None))
        done = end
    parts.append(text[done:])
    return "".join(parts)
