"""Measuring a run: what each node of a plan delivered, how long it took and what it read (``PRAGMA sqlvec_analyze``).

A measured plan is a copy of a plan, in which every node of the row engine stands below a :class:`Measured` node.  Pipelines are fused across nodes that they
know; they don't know this one, so each node becomes a generator of its own, and the Measured node counts what comes out of it.  The loops of a Join stay
one generated function: each level gets a condition more, behind its own ones, that counts the rows which get so far.  The vector engine reports its
batches to ``RunContext.measures`` (exec/vector/pipeline.py), which is None in every other run; nothing else costs anything when nobody measures.

Times and bytes are inclusive: those of a node contain its inputs'.  Bytes are the pages that the pagers were asked for, found in the cache or not.
Triggers and foreign-key actions are part of the node that fires them.
"""
from __future__ import annotations

from time import perf_counter_ns

from sqlvec.exec.bridge import VectorInput
from sqlvec.expr import bound
from sqlvec.functions.registry import ScalarFunction
from sqlvec.plan import physical
from sqlvec.plan.access.describe import path_text
from sqlvec.plan.physical import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from sqlvec.exec.operators import Compiler


class Entry:
    """What is known about one node, level or sub-query.  ``rows`` is None where it wasn't counted; ``loops``: how often it was opened; ``visited``: of a
    level of the row engine, the rows that its conditions were asked about, ``rows`` being those that passed."""

    __slots__ = ("bytes", "children", "engine", "estimate", "loops", "name", "nanoseconds", "rows", "visited")

    def __init__(self, name: str, engine: str, estimate: int | None = None) -> None:
        self.name = name
        self.engine = engine
        self.estimate = estimate
        self.rows: int | None = 0
        self.visited: int | None = None
        self.loops: int | None = 0
        self.nanoseconds: int | None = 0
        self.bytes: int | None = 0
        self.children: list[Entry] = []

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "node": self.name, "engine": self.engine, "rows": self.rows, "rows_visited": self.visited, "estimated_rows": self.estimate, "loops": self.loops,
            "milliseconds": None if self.nanoseconds is None else round(self.nanoseconds / 1e6, 3), "bytes_read": self.bytes,
            "children": [child.as_dict() for child in self.children],
        }


class Measures:
    """The entries of one run, and the count of bytes read so far."""

    def __init__(self) -> None:
        self.bytes = 0
        self.of_node: dict[int, Entry] = {}         # by id of a vector node, which the measured plan keeps alive
        self._patched: list[Any] = []

    # --- bytes ----------------------------------------------------------------------------------------------------------------------

    def watch(self, pager: Any) -> None:
        """Count what a pager is asked for, until ``release``."""
        def counting(function: Any, size: Callable[..., int]) -> Any:
            def counted(*arguments: Any) -> Any:
                before = self.bytes
                found = function(*arguments)
                self.bytes = before + size(*arguments)          # one of these may call another
                return found

            return counted

        page_size = pager.page_size
        pager.get = counting(pager.get, lambda page_no: page_size)
        pager.read_run = counting(pager.read_run, lambda page_numbers: page_size * len(page_numbers))
        pager.read_runs_into = counting(pager.read_runs_into, lambda firsts, counts, target: len(target))
        self._patched.append(pager)

    def release(self) -> None:
        """Leave the pagers as they were."""
        for pager in self._patched:
            del pager.get, pager.read_run, pager.read_runs_into
        self._patched.clear()

    # --- rows -----------------------------------------------------------------------------------------------------------------------

    def measured(self, entry: Entry, rows: Iterator[Any], count: Callable[[Any], int] | None = None) -> Iterator[Any]:
        """The same items, noted; ``count`` gives the rows of a batch."""
        entry.loops = (entry.loops or 0) + 1
        take = rows.__next__
        while True:
            read = self.bytes
            start = perf_counter_ns()
            try:
                item = take()
            except StopIteration:
                return
            finally:
                entry.nanoseconds += perf_counter_ns() - start  # type: ignore[operator]
                entry.bytes += self.bytes - read  # type: ignore[operator]
            entry.rows += 1 if count is None else count(item)  # type: ignore[operator]
            yield item

    def batches(self, node: Any, batches: Iterator[Any]) -> Iterator[Any]:
        """The batches of a vector node (upcall of the vector pipeline)."""
        entry = self.of_node.get(id(node))
        return batches if entry is None else self.measured(entry, batches, _batch_rows)


def _batch_rows(batch: Any) -> int:
    return int(batch.count)


class Measured(Node):
    """``input``, with what comes out of it noted in ``entry``."""

    __slots__ = ("entry", "input", "measures")
    INPUTS = ("input",)

    def __init__(self, input: Node, entry: Entry, measures: Measures) -> None:
        super().__init__(input.columns)
        self.rows = input.rows
        self.input = input
        self.entry = entry
        self.measures = measures


def open_measured(node: Measured, compiler: Compiler) -> Callable[[Any, Any], Iterator[tuple[Any, ...]]]:
    """The opener of a Measured node."""
    opener = compiler.operator(node.input)
    entry, measures = node.entry, node.measures

    def rows(activation: Any, outer: Any) -> Iterator[tuple[Any, ...]]:
        return measures.measured(entry, iter(opener(activation, outer)))

    return rows


# --- making measured plans ------------------------------------------------------------------------------------------------------------------


class Builder:
    """Makes measured copies of plans whose bridges are placed."""

    def __init__(self, measures: Measures) -> None:
        self.measures = measures

    def node(self, node: Any, parent: list[Entry]) -> Any:
        """The measured form of a node; its entry is added to ``parent``."""
        if isinstance(node, VectorInput):
            self._vector(node.node, parent)
            return node
        entry = Entry(_node_name(node), "row", _estimate(node.rows))
        parent.append(entry)
        changes: dict[str, Any] = {}
        for name in type(node).INPUTS:
            below = getattr(node, name)
            if below is not None:
                changes[name] = self.node(below, entry.children)
        for name in ("arms", "steps"):
            if hasattr(node, name):
                changes[name] = tuple([self.node(below, entry.children) for below in getattr(node, name)])
        if isinstance(node, physical.RecursiveCte):
            changes["setup"] = self.node(node.setup, entry.children)
        if isinstance(node, physical.Join):
            changes["levels"] = tuple([self._level(level, entry.children) for level in node.levels])
        return Measured(copied(node, changes), entry, self.measures)

    def _level(self, level: Any, parent: list[Entry]) -> Any:
        entry = Entry(path_text(level.path, level.kind), "row", _estimate(level.rows))
        entry.loops = entry.nanoseconds = entry.bytes = None
        parent.append(entry)
        changes: dict[str, Any] = {"conditions": (*level.conditions, _counting(entry, "rows"))}
        if level.conditions:
            entry.visited = 0
            changes["conditions"] = (_counting(entry, "visited"), *changes["conditions"])
        path = level.path
        plan = getattr(path, "plan", None)
        if plan is not None:
            changes["path"] = copied(path, {"plan": self.node(plan, entry.children)})
        elif isinstance(path, physical.AutomaticIndex) and getattr(path.input, "plan", None) is not None:
            inner = copied(path.input, {"plan": self.node(path.input.plan, entry.children)})  # type: ignore[attr-defined]
            changes["path"] = copied(path, {"input": inner})
        return copied(level, changes)

    def _vector(self, node: Any, parent: list[Entry]) -> None:
        """Entries for a subtree that the vector engine runs as it is."""
        entry = Entry(_node_name(node), "vector", _estimate(node.rows))
        parent.append(entry)
        self.measures.of_node[id(node)] = entry
        for below in node.inputs():
            self._vector(below, entry.children)
        for level in getattr(node, "levels", ()):
            inner = Entry(path_text(level.path, level.kind), "vector", _estimate(level.rows))
            inner.rows = inner.loops = inner.nanoseconds = inner.bytes = None
            entry.children.append(inner)
            plan = getattr(level.path, "plan", None)
            if plan is not None:
                self._vector(plan, inner.children)


def copied(thing: Any, changes: dict[str, Any]) -> Any:
    """A copy of a plan object with some fields changed."""
    made = object.__new__(type(thing))
    for cls in type(thing).__mro__:
        for name in getattr(cls, "__slots__", ()):
            if hasattr(thing, name):
                setattr(made, name, getattr(thing, name))
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def _counting(entry: Entry, field: str) -> Any:
    """A condition that is always true and counts in a field of ``entry`` how often it is asked."""
    def count() -> int:
        setattr(entry, field, getattr(entry, field) + 1)
        return 1

    return bound.Call(ScalarFunction("sqlvec_count", 0, 0, count, 0, may_raise=True, builtin=False), ())


def _node_name(node: Any) -> str:
    name = type(node).__name__
    if isinstance(node, physical.CountRows):
        return f"CountRows {node.label}"
    if isinstance(node, physical.Aggregate):
        return f"Aggregate {node.mode}"
    if isinstance(node, (physical.SetOperation, physical.MergeSetOperation)):
        return f"{name} {node.operator}"
    write = getattr(node, "write", None)
    return f"{name} {write.table.name}" if write is not None else name


def _estimate(log_estimate: int) -> int:
    """Rows of a LogEst."""
    return round(2 ** (log_estimate / 10)) if log_estimate else 1


def complete(entry: Entry) -> None:
    """The only level of a vector join delivers what the join does."""
    for child in entry.children:
        complete(child)
    if entry.engine == "vector" and len(entry.children) == 1 and entry.children[0].rows is None:
        entry.children[0].rows = entry.rows


def lines_of(entry: Entry, depth: int = 0) -> list[str]:
    """The text form: one line an entry, indented as the tree."""
    parts = [f"engine={entry.engine}"]
    if entry.rows is not None:
        parts.append(f"rows={entry.rows}")
    if entry.visited is not None:
        parts.append(f"visited={entry.visited}")
    if entry.loops is not None and entry.loops != 1:
        parts.append(f"loops={entry.loops}")
    if entry.nanoseconds is not None:
        parts.append(f"time={entry.nanoseconds / 1e6:.3f} ms")
    if entry.bytes is not None:
        parts.append(f"read={entry.bytes}")
    found = [f"{'   ' * depth}{entry.name}  ({' '.join(parts)})"]
    for child in entry.children:
        found += lines_of(child, depth + 1)
    return found
