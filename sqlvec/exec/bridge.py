"""The bridge between the engines: a plan node whose rows come from the vector engine.

:class:`VectorInput` stands in the place of a subtree.  Row operators read it like any other input; opened, it runs the subtree vectorised.  If
that ends by an exception, the same subtree starts over on the row engine in the same snapshot, and as many rows as were delivered already are
dropped: both engines deliver the same rows in the same order, so nobody notices but the clock.

A vector scan has read ahead of the rows that it delivered.  When the connection itself changes a tree that the subtree reads, between two rows,
the rest is read by the row engine, which sees the change as SQLite does:

* a plain scan (filters and a projection over one table) goes on behind the last rowid delivered;
* a subtree that had read everything before its first row (a sort, an aggregation) goes on unchanged;
* any other starts over and drops what was delivered: what a query sees of changes to the tables of its running join is undefined in SQLite too.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.exec.program import Activation, program_of
from sqlvec.expr.bound import Literal
from sqlvec.plan import physical
from sqlvec.plan.physical import Node
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from sqlvec.exec.operators import Compiler


class VectorInput(Node):
    """``node`` run by the vector engine."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        super().__init__(node.columns)
        self.rows = node.rows
        self.node = node


restarts = 0
"""How many runs fell back to the row engine (tests look at it)."""


def open_vector(node: VectorInput, compiler: Compiler) -> Callable[[Any, Any], Iterator[tuple[Any, ...]]]:
    """The opener of a bridge."""
    inner = node.node
    is_blocking = resolve("sqlvec.exec.vector.eligibility:reads_all_first")(inner)

    def rows(activation: Activation, outer: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        global restarts
        context = activation.context
        count = 0
        trees = [] if is_blocking else trees_of(inner, activation)
        written = [tree.write_count for tree in trees]
        progress = resolve("sqlvec.exec.vector.pipeline:Progress")()
        again: Iterator[tuple[Any, ...]] | None = None
        try:
            for row in resolve("sqlvec.exec.vector.pipeline:open")(inner, context, Activation(context), progress):
                yield row
                count += 1
                if trees and [tree.write_count for tree in trees] != written:
                    again = _behind(inner, progress.rowid(inner, count), activation) if _is_plain_scan(inner) else None
                    break
            else:
                return
        except (GeneratorExit, KeyboardInterrupt, errors.Interrupted):
            raise
        except Exception:
            if context.settings.engine == "vector-strict":
                raise
        restarts += 1
        if again is None:
            again = program_of(inner).rows(Activation(context))
            for _ in range(count):
                next(again, None)
        yield from again

    return rows


def _is_plain_scan(node: Any) -> bool:
    """A projection and filters over the scan of one rowid table?"""
    if isinstance(node, physical.Project):
        node = node.input
    while isinstance(node, physical.Filter):
        node = node.input
    return isinstance(node, physical.Join) and len(node.levels) == 1 and isinstance(node.levels[0].path, physical.TableScan)


def trees_of(node: Any, activation: Activation) -> list[Any]:
    """The trees that the joins of a subtree read."""
    found = []
    for level in getattr(node, "levels", ()):
        path = level.path
        table = getattr(path, "table", None)
        if table is not None and table.kind == "table":
            found.append(activation.index_tree(table.key_index) if table.without_rowid else activation.table_tree(table))
        elif getattr(path, "plan", None) is not None:
            found += trees_of(path.plan, activation)
    for below in node.inputs():
        found += trees_of(below, activation)
    return found


def _behind(node: Any, rowid: int, activation: Activation) -> Iterator[tuple[Any, ...]]:
    """The rest of a plain scan, behind ``rowid``, by the row engine."""
    return program_of(_cut(node, rowid)).rows(Activation(activation.context))


def _cut(node: Any, rowid: int) -> Any:
    if isinstance(node, physical.Join):
        level = node.levels[0]
        scan: Any = level.path
        path = physical.RowidSearch(scan.source, scan.label, scan.table, None, physical.RangeBound((Literal(rowid),), False))
        path.used = scan.used
        return physical.Join((physical.Level(path, level.kind, level.match, level.conditions),), node.columns, node.constants)
    below = _cut(node.input, rowid)
    if isinstance(node, physical.Filter):
        return physical.Filter(below, node.condition)
    return physical.Project(below, node.expressions, node.source, node.columns)
