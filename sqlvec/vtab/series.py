"""generate_series(start, stop, step): the integers from start to stop, a table-valued function of the shell.

A negative step means descending through the values of the positive one, as ORDER BY value DESC does; a wanted ascending order wins
over both.  Manual: "The generate_series Table-Valued Function".
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.values.storage import cast_to_integer
from sqlvec.vtab.api import Choice, Constraint, Module, VirtualTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.values.storage import Value

_START, _STOP, _STEP = 1, 2, 3
_HAS_START, _HAS_STOP, _HAS_STEP, _DESCENDING, _ASCENDING = 1, 2, 4, 8, 16
_DEFAULT_STOP = 4294967295


class Series(VirtualTable):
    """The table: value, and the hidden arguments start, stop, step."""

    columns = (("value", "", False), ("start", "", True), ("stop", "", True), ("step", "", True))

    def best_index(self, constraints: list[Constraint], order: list[tuple[int, bool]], used: frozenset[int]) -> Choice | None:
        number = 0
        chosen: dict[int, int] = {}
        unusable = 0
        start_seen = False
        for position, constraint in enumerate(constraints):
            column = constraint.column
            if column < _START:
                continue
            if column == _START:
                start_seen = True
            bit = 1 << (column - _START)
            if not constraint.usable:
                unusable |= bit
            elif constraint.operator == "=":
                number |= bit
                chosen[column] = position
        if not start_seen:
            raise errors.series_start_missing()
        if unusable & ~number:
            return None
        arguments = tuple(chosen[column] for column in (_START, _STOP, _STEP) if column in chosen)
        consumed = False
        cost, rows = 5e98, 2147483647
        if number & 3 == 3:
            cost = 1.0 if number & _HAS_STEP else 2.0
            rows = 1000
        if order and order[0][0] == 0:
            number |= _DESCENDING if order[0][1] else _ASCENDING
            consumed = True
        return Choice(number, None, arguments, frozenset(arguments), cost, rows, consumed)

    def open(self, choice: Choice, arguments: tuple[Any, ...], context: Any) -> Iterator[tuple[int, tuple[Any, ...]]]:
        given = iter(arguments)
        number = choice.number
        start = next(given) if number & _HAS_START else 0
        stop = next(given) if number & _HAS_STOP else _DEFAULT_STOP
        step = next(given) if number & _HAS_STEP else 1
        return enumerate(self.rows(start, stop, step, bool(number & _DESCENDING), bool(number & _ASCENDING)), 1)

    def rows(
        self, start: Value, stop: Value = _DEFAULT_STOP, step: Value = 1, descending: bool = False, ascending: bool = False
    ) -> Iterator[tuple[int, int, int, int]]:
        """The rows; none when an argument is NULL."""
        if start is None or stop is None or step is None:
            return
        low: int = cast_to_integer(start)  # type: ignore[assignment]
        high: int = cast_to_integer(stop)  # type: ignore[assignment]
        stride: int = cast_to_integer(step) or 1
        if stride < 0:
            stride = -stride
            descending = descending or not ascending
        values = range(low, high + 1, stride)
        for value in reversed(values) if descending else values:
            yield (value, low, high, stride)


class SeriesModule(Module):
    """generate_series"""

    eponymous = True
    eponymous_only = True

    def connect(self, context: Any, database: str, table: str, arguments: tuple[str, ...], is_new: bool) -> VirtualTable:
        return Series()
