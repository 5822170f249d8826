"""Date functions inside schema declarations: they must not read the clock or the time zone.

An index, a CHECK constraint or a generated column may call date functions, but a value that depends on when or where it was computed is an error when it
appears: ``'now'`` (or no time value at all), and the modifiers ``localtime`` and ``utc``.

Follows "Deterministic SQL Functions", section 3, of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.functions.registry import ScalarFunction
from sqlvec.values.text import lower

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DATE_FUNCTIONS = frozenset(("date", "time", "datetime", "julianday", "unixepoch", "strftime"))
PLACES = {
    "index expressions": "an index",
    "partial index WHERE clauses": "an index",
    "CHECK constraints": "a CHECK constraint",
    "generated columns": "a generated column",
}


def pure_variant(function: ScalarFunction, restriction: str) -> ScalarFunction:
    """The date function as the declaration named by ``restriction`` may use it."""
    place = PLACES[restriction]
    skipped = 1 if function.name == "strftime" else 0

    def call(context: Any, *arguments: Any) -> Any:
        result = function.call(context, *arguments)
        if result is not None and _reads_clock(arguments[skipped:]):
            raise errors.non_deterministic_use(function.name, place)
        return result

    return ScalarFunction(function.name, function.min_args, function.max_args, call, function.flags, context=True, may_raise=True)


def _reads_clock(arguments: tuple[Any, ...]) -> bool:
    if not arguments:
        return True
    texts = [lower(argument) if type(argument) is str else "" for argument in arguments]
    return texts[0] == "now" or any(text in ("localtime", "utc") for text in texts[1:])
