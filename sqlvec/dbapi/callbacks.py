"""Calls out of the engine into the user's Python: what they raise is reported, not raised (``enable_callback_tracebacks``), and becomes an SQL error.

The standard module clears such exceptions, and with callback tracebacks enabled hands them to ``sys.unraisablehook``; so does this one.
"""
from __future__ import annotations

import sys
import traceback
from types import SimpleNamespace

from sqlvec import errors
from sqlvec.dbapi.exceptions import DataError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_state = {"enabled": False}


def enable_callback_tracebacks(enable: bool, /) -> None:
    """Report what user callbacks raise through ``sys.unraisablehook``."""
    _state["enabled"] = bool(enable)


def report(error: BaseException, callback: Any) -> None:
    """Report an exception out of a callback, if that was asked for."""
    if not _state["enabled"]:
        return
    if sys.unraisablehook is sys.__unraisablehook__:
        print(f"Exception ignored in: {callback!r}", file=sys.stderr)
        traceback.print_exception(error, file=sys.stderr)
        return
    sys.unraisablehook(SimpleNamespace(  # type: ignore[arg-type]
        exc_type=type(error), exc_value=error, exc_traceback=error.__traceback__, err_msg=None, object=callback))


def progress(handler: Callable[[], Any]) -> Callable[[], bool]:
    """A progress handler; raising interrupts."""
    def call() -> bool:
        try:
            return bool(handler())
        except BaseException as error:
            report(error, handler)
            return True

    return call


def trace(callback: Callable[[str], Any], session: Any) -> Callable[[Any], None]:
    """A trace callback: gets the expanded text of a statement, or the plain one where that is longer than SQLITE_LIMIT_LENGTH."""
    def call(statement: Any) -> None:
        try:
            text = statement.expanded_text()
            if len(text) > session.limit("SQLITE_LIMIT_LENGTH"):
                report(DataError("Expanded SQL string exceeds the maximum string length"), callback)
                text = statement.text()
            callback(text)
        except BaseException as error:
            report(error, callback)

    return call


def authorizer(callback: Callable[..., Any]) -> Callable[..., int]:
    """An authorizer: an exception or an answer that is no 32-bit integer denies.  Errors: "authorizer malfunction" for other numbers than 0, 1, 2."""
    def call(*arguments: Any) -> int:
        try:
            verdict = callback(*arguments)
            if not isinstance(verdict, int):
                return 1
            if not -0x80000000 <= verdict <= 0x7FFFFFFF:
                raise OverflowError("Python int too large to convert to C int")
        except BaseException as error:
            report(error, callback)
            return 1
        if verdict not in (0, 1, 2):
            raise errors.authorizer_malfunction()
        return int(verdict)

    return call


def collation(callback: Callable[[str, str], Any]) -> Callable[[str, str], int]:
    """A collation: what is no integer compares as equal; exceptions come out of the statement as they are."""
    def call(left: str, right: str) -> int:
        order = callback(left, right)
        return (order > 0) - (order < 0) if isinstance(order, int) else 0

    return call
