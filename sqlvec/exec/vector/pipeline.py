"""Running a vector subtree: physical nodes as generators of batches.

``open_node(node, activation)`` gives the batches of a node; ``open(node, context, activation)`` gives its rows as tuples, which is what the
bridge hands to the row engine above.  Which subtrees come here was decided by placement; each node kind has a row in ``_OPERATORS``.
"""
from __future__ import annotations

from sqlvec.columnar.batch import ColumnBatch, Part
from sqlvec.columnar.numeric import np
from sqlvec.exec.vector.aggregate import aggregate
from sqlvec.exec.vector.decline import Restart
from sqlvec.exec.vector.eligibility import reads_all_first
from sqlvec.exec.vector.evaluate import Evaluator
from sqlvec.exec.vector.scan import OutOfOrder, Source, is_full_scan, select_all
from sqlvec.plan import physical
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.exec.context import RunContext
    from sqlvec.exec.program import Activation


class ProjectedPart(Part):
    """The columns of a Project, evaluated when asked for."""

    __slots__ = ("batch", "evaluator", "expressions")

    def __init__(self, batch: ColumnBatch, evaluator: Evaluator, expressions: dict[Any, Any]) -> None:
        self.batch = batch
        self.evaluator = evaluator
        self.expressions = expressions

    def column(self, key: Any) -> Any:
        return self.evaluator.value(self.expressions[key], self.batch)

    def steps(self, key: Any) -> list[tuple[Any, float]]:
        return [step for column in self.evaluator.columns(self.expressions[key]) for step in self.batch.steps((column.source, column.number))]

    def take(self, positions: Any) -> ProjectedPart:
        return ProjectedPart(self.batch.take(positions), self.evaluator, self.expressions)


def open_node(node: physical.Node, activation: Activation) -> Iterator[ColumnBatch]:
    """The batches of a node, rows in the node's order."""
    name = _OPERATORS.get(type(node))
    if name is None:
        raise Restart
    run = globals()[name] if ":" not in name else resolve(name)
    measures = activation.context.measures
    if measures is not None:
        return measures.batches(node, run(node, activation))  # type: ignore[no-any-return]
    return run(node, activation)  # type: ignore[no-any-return]


def run_join(node: physical.Join, activation: Activation) -> Iterator[ColumnBatch]:
    """Join: one level is a scan with its conditions; several are the business of join.py."""
    evaluator = Evaluator(node.constants, activation)
    for condition in node.constants:
        single = evaluator.constant(condition)
        if single is None:
            raise Restart
        if not evaluator.truth_of(single)[0][0]:
            return
    if len(node.levels) > 1:
        if any(activation.table_tree(table).is_empty() for table in physical.ending_tables(node)):
            return
        yield from resolve("sqlvec.exec.vector.join:run")(node, activation)
        return
    (level,) = node.levels
    if level.kind != "inner":
        raise Restart
    if not is_full_scan(level.path) or any(getattr(inner, "subquery", None) for condition in level.conditions for inner in condition.walk()):
        needs = {(column.source, column.number) for column in node.columns}
        yield from resolve("sqlvec.exec.vector.join:first_level")(level, activation, needs)
        return
    evaluator = Evaluator(level.conditions, activation)
    yield from select_all(Source(level.path, activation).batches(), level.conditions, evaluator, activation)


def run_filter(node: physical.Filter, activation: Activation) -> Iterator[ColumnBatch]:
    evaluator = Evaluator([node.condition], activation)
    for batch in open_node(node.input, activation):
        yield evaluator.select([node.condition], batch)


def run_project(node: physical.Project, activation: Activation) -> Iterator[ColumnBatch]:
    expressions = {(column.source, column.number): expression for column, expression in zip(node.columns, node.expressions, strict=True)}
    evaluator = Evaluator(node.expressions, activation)
    for batch in open_node(node.input, activation):
        part = ProjectedPart(batch, evaluator, expressions)
        yield ColumnBatch(batch.count, dict.fromkeys(expressions, part))


def run_aggregate(node: physical.Aggregate, activation: Activation) -> Iterator[ColumnBatch]:
    yield from aggregate(node, activation)


def run_limit(node: physical.Limit, activation: Activation) -> Iterator[ColumnBatch]:
    evaluator = Evaluator([], activation)
    left = _whole_number(evaluator, node.limit)
    skip = max(0, _whole_number(evaluator, node.offset) or 0)
    if left is not None and left < 0:
        left = None
    if left == 0:
        return
    for batch in open_node(node.input, activation):
        start = min(skip, batch.count)
        skip -= start
        stop = batch.count if left is None else min(batch.count, start + left)
        if start or stop < batch.count:
            batch = batch.slice(start, stop)
        if batch.count:
            yield batch
        if left is not None:
            left -= batch.count
            if left <= 0:
                return


def _whole_number(evaluator: Evaluator, expression: Any) -> int | None:
    if expression is None:
        return None
    single = evaluator.constant(expression)
    value = single.value(0) if single is not None else None
    if type(value) is not int:
        raise Restart
    return value


_OPERATORS = {
    physical.Join: "run_join",
    physical.Filter: "run_filter",
    physical.Project: "run_project",
    physical.Aggregate: "run_aggregate",
    physical.Limit: "run_limit",
    physical.Sort: "sqlvec.exec.vector.sort:run_sort",
    physical.Distinct: "sqlvec.exec.vector.sort:run_distinct",
    physical.UnionAll: "sqlvec.exec.vector.set_operation:run_union_all",
    physical.SetOperation: "sqlvec.exec.vector.set_operation:run_set_operation",
    physical.WindowPass: "sqlvec.exec.vector.window:run_window",
}


class Progress:
    """Where a run is: the ``batch`` whose rows are being delivered, and how many rows came before it."""

    __slots__ = ("batch", "before")

    def __init__(self) -> None:
        self.batch: ColumnBatch | None = None
        self.before = 0

    def rowid(self, node: physical.Node, delivered: int) -> int:
        """The rowid of the last of ``delivered`` rows of a plain scan (see bridge.py)."""
        batch = self.batch
        assert batch is not None
        if isinstance(node, physical.Project):
            batch = next(iter(batch.parts.values())).batch
            node = node.input
        while isinstance(node, physical.Filter):
            node = node.input
        assert isinstance(node, physical.Join)
        found = batch.column((node.levels[0].path.source, -1)).value(delivered - self.before - 1)
        assert type(found) is int
        return found


def open(node: physical.Node, context: RunContext, activation: Activation, progress: Progress | None = None) -> Iterator[tuple[Any, ...]]:
    """The rows of a vector subtree."""
    delivered = 0
    if not reads_all_first(node):
        activation.slots["hold"] = True            # rows leave at once: their order must be known, not hoped for
    if progress is None:
        progress = Progress()
    while True:
        try:
            skip = delivered
            for row in _rows(node, activation, progress):
                if skip:
                    skip -= 1
                    continue
                delivered += 1
                yield row
            return
        except OutOfOrder as found:
            activation.slots["hold", found.key] = True


def _rows(node: physical.Node, activation: Activation, progress: Progress) -> Iterator[tuple[Any, ...]]:
    keys = [(column.source, column.number) for column in node.columns]
    progress.before = 0
    # numpy warns about divisions and overflows that the kernels look for themselves
    with np.errstate(all="ignore"):
        batches = open_node(node, activation)
    restart_at = _restart_batch() if activation.context.settings.engine == "restarting" else -1
    number = 0
    interrupt = activation.context.interrupt
    while True:
        if interrupt[0]:
            activation.context.check_interrupt()
        with np.errstate(all="ignore"):
            batch = next(batches, None)
            if batch is None:
                return
            if number == restart_at:
                raise Restart
            rows = rows_of(batch, keys)
        number += 1
        progress.batch = batch
        yield from rows
        progress.before += len(rows)


_runs = 0


def _restart_batch() -> int:
    """The testing entry ``restarting``: give up at the first, second or third batch, in turn."""
    global _runs
    _runs += 1
    return _runs % 3


def rows_of(batch: ColumnBatch, keys: list[Any]) -> Any:
    """The rows of a batch as tuples."""
    if not keys:
        return [()] * batch.count
    return list(zip(*[batch.column(key).values() for key in keys], strict=True))


__all__ = ["open", "open_node", "rows_of"]
