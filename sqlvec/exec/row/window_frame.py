"""Window frames: for each row of a partition, which rows its frame holds.

A partition is a list of rows in window order; peers are adjacent rows with equal ORDER BY values (without ORDER BY all rows are peers).  A frame is a half-open
interval of positions, both ends of which only grow from row to row, minus what EXCLUDE takes out.

Follows "Window Functions" (frame specifications) of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.expr.operations import numeric_operand
from sqlvec.values.arithmetic import add, subtract
from sqlvec.values.compare import compare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.exec.row.ephemeral import SortTerm


class Peers:
    """Peer groups of a partition: ``group`` number of each row; ``starts`` of the groups, with the number of rows at the end."""

    __slots__ = ("count", "group", "starts")

    def __init__(self, keys: list[Any] | None, count: int) -> None:
        self.count = count
        if keys is None:
            self.group = [0] * count
            self.starts = [0, count]
            return
        group: list[int] = []
        starts: list[int] = []
        last: Any = None
        for position, key in enumerate(keys):
            if not starts or key != last:
                starts.append(position)
                last = key
            group.append(len(starts) - 1)
        starts.append(count)
        self.group = group
        self.starts = starts

    def first(self, row: int) -> int:
        """First position of the row's peers."""
        return self.starts[self.group[row]]

    def end(self, row: int) -> int:
        """Position behind the row's peers."""
        return self.starts[self.group[row] + 1]


def check_offset(value: Any, unit: str, which: str) -> Any:
    """The value of ``n PRECEDING`` or ``n FOLLOWING``, checked."""
    number = numeric_operand(value)
    if unit == "RANGE":
        if type(number) not in (int, float) or number < 0:
            raise errors.frame_offset(which, "number")
        return number
    if type(number) is float and -9223372036854775808.0 <= number < 9223372036854775808.0 and number == int(number):
        number = int(number)
    if type(number) is not int or number < 0:
        raise errors.frame_offset(which, "integer")
    return number


class Bounds:
    """Computes the start and end positions of all frames of a partition.  ``start`` and ``end``: (kind, offset value or None)."""

    __slots__ = ("end", "start", "term", "unit")

    def __init__(self, unit: str, start: tuple[str, Any], end: tuple[str, Any], term: SortTerm | None) -> None:
        self.unit = unit
        self.start = start
        self.end = end
        self.term = term

    def compute(self, peers: Peers, values: list[Any]) -> tuple[list[int], list[int]]:
        """(starts, ends) for every row; ``values`` are the ORDER BY values (RANGE with an offset only)."""
        return self._positions(self.start, peers, values, False), self._positions(self.end, peers, values, True)

    def lead(self, peers: Peers) -> list[tuple[int, int]]:
        """How a frame of rows or groups that starts behind the current row comes into being: as the original does it, a frame of the
        same size slides from the very first row to the first real place, so float sums keep traces of the rows it left.
        Each step: (position up to which rows leave, position up to which rows enter)."""
        places = range(peers.count + 1) if self.unit == "ROWS" else peers.starts
        last = len(places) - 1
        size = self.end[1] - self.start[1] + 1
        steps = min(self.start[1], last)
        return [(places[min(step, last)], places[min(step + size, last)]) for step in range(steps + 1)]

    def _positions(self, bound: tuple[str, Any], peers: Peers, values: list[Any], is_end: bool) -> list[int]:
        kind, offset = bound
        count = peers.count
        if kind == "UNBOUNDED PRECEDING":
            return [0] * count
        if kind == "UNBOUNDED FOLLOWING":
            return [count] * count
        if kind == "CURRENT ROW":
            if self.unit == "ROWS":
                return [row + is_end for row in range(count)]
            return [peers.end(row) if is_end else peers.first(row) for row in range(count)]
        if self.unit == "ROWS":
            distance = -offset if kind == "PRECEDING" else offset
            return [min(max(row + distance + is_end, 0), count) for row in range(count)]
        if self.unit == "GROUPS":
            return self._groups(offset if kind == "FOLLOWING" else -offset, peers, is_end)
        return self._range(kind, offset, values, peers, is_end)

    def _groups(self, distance: int, peers: Peers, is_end: bool) -> list[int]:
        starts = peers.starts
        last = len(starts) - 2
        found = []
        for row in range(peers.count):
            group = peers.group[row] + distance + is_end
            found.append(starts[min(max(group, 0), last + 1)])
        return found

    def _range(self, kind: str, offset: Any, values: list[Any], peers: Peers, is_end: bool) -> list[int]:
        """Positions by value distance; rows without a numeric value see their peers only.

        The distance is added to the side that comes first in the order, as in the original: that decides what happens at the limits of integers."""
        term = self.term
        assert term is not None
        move = subtract if term.descending else add
        precedes = kind == "PRECEDING"
        found: list[int] = []
        position = 0
        count = peers.count
        for row in range(count):
            value = values[row]
            if value is None or type(value) in (str, bytes):
                found.append(peers.end(row) if is_end else peers.first(row))
                continue
            target = value if precedes else move(value, offset)
            while position < count:
                candidate = values[position]
                if precedes and type(candidate) in (int, float):
                    candidate = move(candidate, offset)
                if not self._is_before(candidate, target, is_end):
                    break
                position += 1
            found.append(position)
        return found

    def _is_before(self, value: Any, target: Any, is_end: bool) -> bool:
        """Is a row with this value in front of the wanted position?"""
        term = self.term
        assert term is not None
        if value is None:
            return term.descending is term.null_is_greatest
        order = compare(value, target, term.collation)
        if term.descending:
            order = -order
        return order < 0 or (is_end and order == 0)


def frame_rows(start: int, end: int, row: int, exclude: str, peers: Peers) -> list[int]:
    """Positions in the frame of ``row`` after EXCLUDE."""
    if exclude == "CURRENT ROW":
        return [position for position in range(start, end) if position != row]
    first, behind = peers.first(row), peers.end(row)
    if exclude == "GROUP":
        return [position for position in range(start, end) if not first <= position < behind]
    return [position for position in range(start, end) if position == row or not first <= position < behind]
