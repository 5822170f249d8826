"""Recursive common table expressions: the queue.

Rows of the setup enter the queue; the first row is taken out, delivered (OFFSET and LIMIT count here), and each recursive step runs with that one row as the
content of its table and adds what it finds.  With ORDER BY the queue is a priority queue, ties first in first out.  UNION drops rows that were ever queued.

The current row lies in the activation under ``("queue", slot)``; a step is run to its end before the next row is taken.

Follows "The WITH Clause" of the manual.
"""
from __future__ import annotations

from heapq import heappop, heappush

from sqlvec import errors
from sqlvec.exec.row.ephemeral import NULL_AT_END, hash_function
from sqlvec.exec.row.join import RowLoop
from sqlvec.exec.row.sort import KeyMaker, limit_function
from sqlvec.values.compare import Descending, sort_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.exec.operators import Compiler
    from sqlvec.plan import physical


class RecursiveScanLoop(RowLoop):
    """The current row of the queue, as a table of one row."""

    def open(self) -> None:
        emitter = self.pipeline.emitter
        key = emitter.constant(_queue_key(self.path.slot), "queue")
        memo = emitter.bind_line("S", f"S = {emitter.activation()}.slots")
        self.begin_rows(f"({memo}[{key}],)")


def _queue_key(slot: int) -> tuple[str, int]:
    return ("queue", slot)


class Fifo:
    """The queue of a recursive query without ORDER BY."""

    __slots__ = ("at", "rows")

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self.at = 0

    def add(self, row: tuple[Any, ...]) -> None:
        self.rows.append(row)

    def take(self) -> tuple[Any, ...] | None:
        if self.at == len(self.rows):
            return None
        row = self.rows[self.at]
        self.at += 1
        if self.at >= 10000:
            del self.rows[: self.at]
            self.at = 0
        return row  # type: ignore[no-any-return]


class PriorityQueue:
    """The queue of a recursive query with ORDER BY: smallest key first, then first in first out."""

    __slots__ = ("count", "heap", "make", "terms")

    def __init__(self, keys: KeyMaker, activation: Any, outer: Any) -> None:
        self.make = keys.bind(activation, outer)
        self.terms = keys.terms
        self.heap: list[Any] = []
        self.count = 0

    def add(self, row: tuple[Any, ...]) -> None:
        key_row = self.make([row])[0]
        key = []
        for term in self.terms:
            value = key_row[term.place]
            part: Any = NULL_AT_END if value is None and term.null_is_greatest else sort_key(value, term.collation)
            key.append(Descending(part) if term.descending else part)
        self.count += 1
        heappush(self.heap, (key, self.count, row))

    def take(self) -> tuple[Any, ...] | None:
        return heappop(self.heap)[2] if self.heap else None  # type: ignore[no-any-return]


def open_recursive(node: physical.RecursiveCte, compiler: Compiler) -> Any:
    """Compile a recursive query."""
    setup = compiler.operator(node.setup)
    steps = [compiler.operator(step) for step in node.steps]
    keys = KeyMaker(node.order, node.columns, compiler) if node.order else None
    bounds = limit_function(node.limit, node.offset, compiler) if node.limit is not None or node.offset is not None else None
    collations = []
    for name in node.collations:
        collation = compiler.collations.lookup(name)
        if collation is None:
            raise errors.no_such_collation(name)
        collations.append(collation)
    width = len(node.columns)
    key_of = hash_function(None, tuple(collations[:width])) if node.distinct else None
    slot = _queue_key(node.slot)

    def rows(activation: Any, outer: Any) -> Iterator[tuple[Any, ...]]:
        left, skip = bounds(activation, outer) if bounds is not None else (None, 0)
        if left == 0:
            return
        queue: Any = Fifo() if keys is None else PriorityQueue(keys, activation, outer)
        seen: set[Any] = set()
        slots = activation.slots
        interrupt = activation.context.interrupt

        def enter(found: Iterator[tuple[Any, ...]]) -> None:
            for row in found:
                if key_of is not None:
                    key = key_of(row)
                    if key in seen:
                        continue
                    seen.add(key)
                queue.add(row)

        enter(setup(activation, outer))
        while (row := queue.take()) is not None:
            if interrupt[0]:
                raise errors.Interrupted()
            if skip:
                skip -= 1
            else:
                yield row
                if left is not None:
                    left -= 1
                    if left == 0:
                        return
            saved = slots.get(slot)
            slots[slot] = row
            for step in steps:
                enter(step(activation, outer))
            slots[slot] = saved

    return rows
