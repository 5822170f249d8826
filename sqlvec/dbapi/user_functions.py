"""Python callables as SQL functions: what they raise becomes "user-defined function raised exception"."""
from __future__ import annotations

from sqlvec import errors
from sqlvec.dbapi.callbacks import report
from sqlvec.values import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _failure(error: BaseException, callback: Any, message: str) -> errors.SqlError:
    """The SQL error for what a callback raised."""
    report(error, callback)
    if isinstance(error, MemoryError):
        return errors.SqlError(errors.NOMEM, "out of memory")
    if isinstance(error, OverflowError):
        return errors.string_or_blob_too_big()
    return errors.plain(message)


def scalar(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a scalar function.  Errors: "user-defined function raised exception"; too large values as SQLite says."""
    def call(*arguments: Any) -> Any:
        try:
            if text.invalid_text_seen:
                for argument in arguments:
                    if type(argument) is str and not argument.isascii():
                        argument.encode()       # the module decodes arguments strictly
            return checked(function(*arguments))
        except BaseException as error:
            raise _failure(error, function, "user-defined function raised exception") from None

    return call


def checked(value: Any) -> Any:
    """A result as one of the five value types.  Errors: TypeError, OverflowError, UnicodeEncodeError, BufferError."""
    if value is None or type(value) in (float, bytes):
        return value
    if isinstance(value, int):
        if not -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
            raise OverflowError("Python int too large to convert to SQLite INTEGER")
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        value.encode()
        return str(value)
    view = memoryview(value)
    if not view.c_contiguous:
        raise BufferError("memoryview: underlying buffer is not C-contiguous")
    return bytes(view)


class _State:
    """Adapts a user's aggregate class (step, finalize) to the registry's protocol.  The object is made at the first row; without rows the
    aggregate is NULL."""

    __slots__ = ("_kind", "_made")

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._made: Any = None

    def _object(self) -> Any:
        if self._made is None:
            try:
                self._made = self._kind()
            except BaseException as error:
                raise _failure(error, self._kind, "user-defined aggregate's '__init__' method raised error") from None
        return self._made

    def _guard(self, name: str, *arguments: Any) -> Any:
        method = getattr(self._object(), name, None)
        if method is None:
            missing = AttributeError(f"'{self._kind.__name__}' object has no attribute '{name}'")
            raise _failure(missing, self._kind, f"user-defined aggregate's '{name}' method not defined")
        try:
            return method(*arguments)
        except BaseException as error:
            raise _failure(error, self._kind, f"user-defined aggregate's '{name}' method raised error") from None

    def _result(self, name: str, message: str) -> Any:
        value = self._guard(name)
        try:
            return checked(value)
        except BaseException as error:
            raise _failure(error, self._kind, message) from None

    def step(self, *arguments: Any) -> None:
        self._guard("step", *arguments)

    def value(self) -> Any:
        if self._made is None:
            return None
        return self._result("finalize", "user-defined aggregate's 'finalize' method raised error")


class _WindowState(_State):
    """Adapts a window function: ``window_value`` is the value of a frame, ``value`` the final one."""

    __slots__ = ()

    def inverse(self, *arguments: Any) -> None:
        self._guard("inverse", *arguments)

    def finish(self) -> None:
        """The end of a partition: finalize() is called, and its errors are reported only, as SQLite does."""
        if self._made is not None:
            try:
                self._guard("finalize")
            except errors.SqlError:
                pass

    def window_value(self) -> Any:
        return self._result("value", "unable to set result from user-defined aggregate's 'value' method")


def aggregate(kind: Any) -> Callable[[], _State]:
    """A factory of states for an aggregate class."""
    return lambda: _State(kind)


def window(kind: Any) -> Callable[[], _State]:
    """A factory of states for a window function's class."""
    return lambda: _WindowState(kind)
