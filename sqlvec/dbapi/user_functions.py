"""Python callables as SQL functions: what they raise becomes "user-defined function raised exception"."""
from __future__ import annotations

from sqlvec import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def scalar(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a scalar function.  Errors: "user-defined function raised exception"; too large values as SQLite says."""
    def call(*arguments: Any) -> Any:
        try:
            return _checked(function(*arguments))
        except errors.SqlError:
            raise
        except MemoryError:
            raise errors.SqlError(errors.NOMEM, "out of memory") from None
        except OverflowError:
            raise errors.string_or_blob_too_big() from None
        except Exception:
            raise errors.plain("user-defined function raised exception") from None

    return call


def _checked(value: Any) -> Any:
    if value is None or isinstance(value, (int, float, str, bytes, bytearray, memoryview)):
        if isinstance(value, int) and not -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
            raise TypeError
        return value
    raise TypeError


class _State:
    """Adapts a user's aggregate class (step, finalize, and for windows value, inverse) to the registry's protocol."""

    def __init__(self, made: Any) -> None:
        self._made = made

    def _guard(self, name: str, *arguments: Any) -> Any:
        method = getattr(self._made, name, None)
        if method is None:
            raise errors.plain(f"user-defined aggregate's '{name}' method not defined")
        try:
            return method(*arguments)
        except Exception:
            raise errors.plain(f"user-defined aggregate's '{name}' method raised error") from None

    def step(self, *arguments: Any) -> None:
        self._guard("step", *arguments)

    def inverse(self, *arguments: Any) -> None:
        self._guard("inverse", *arguments)

    def value(self) -> Any:
        return self._guard("value" if hasattr(self._made, "value") else "finalize")


def aggregate(kind: Any) -> Callable[[], _State]:
    """A factory of states for an aggregate class."""
    def start() -> _State:
        try:
            return _State(kind())
        except Exception:
            raise errors.plain("user-defined aggregate's '__init__' method raised error") from None

    return start
