"""Window functions: a WindowPass over batches that arrive in (partition, order).

Rows are held until a whole number of partitions is there, some tens of thousands of rows at a time (or one partition, however long); then partitions,
peers and frames of all of them are laid out at once (window_layout.py) and every call gives one vector (aggregates: window_running.py).

Which calls and frames come here is decided by eligibility.py.  What depends on values is found while running: an argument that the row engine would
complain about, or that isn't an integer where one is wanted, ends the vector run.

Follows "Window Functions" of the manual.
"""
from __future__ import annotations

from sqlvec.columnar.batch import ColumnBatch, of_vectors
from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import INTEGER, ColumnVector, concatenate, integers, merge, reals
from sqlvec.exec.vector.decline import Restart
from sqlvec.exec.vector.evaluate import Evaluator
from sqlvec.exec.vector.window_layout import Layout, changes
from sqlvec.exec.vector.window_running import Frames, Sums, run_count, run_extreme
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from sqlvec.exec.program import Activation
    from sqlvec.expr.bound import WindowCall
    from sqlvec.plan.physical import WindowPass

OUTPUT_ROWS = 8192
HELD_ROWS = 65_536


class Windows:
    """One WindowPass at work."""

    def __init__(self, node: WindowPass, activation: Activation) -> None:
        self.node = node
        window = node.window
        expressions: list[Any] = [*window.partition, *(term.expression for term in window.order)]
        for call in node.calls:
            expressions += call.arguments
            if call.condition is not None:
                expressions.append(call.condition)
        self.evaluator = Evaluator(expressions, activation)
        self.names = [(column.source, column.number) for column in node.input.columns]
        self.outputs = [(column.source, column.number) for column in node.columns[len(self.names):]]
        self.edges: Any = None

    def _edge(self, edge: tuple[str, Any]) -> tuple[str, int | None]:
        """A side of the frame with its offset evaluated."""
        kind, expression = edge
        if expression is None:
            return kind, None
        single = self.evaluator.constant(expression)
        offset = single.value(0) if single is not None else None
        if type(offset) is not int or offset < 0:
            raise Restart
        return kind, offset

    def new_partitions(self, batch: ColumnBatch) -> Any:
        """Where the rows of a batch begin a partition; the first row does."""
        partition = self.node.window.partition
        return changes([self.evaluator.value(expression, batch) for expression in partition],
                       [expression.collation or "BINARY" for expression in partition], batch.count)

    def deliver(self, batch: ColumnBatch, new_partition: Any) -> Iterator[ColumnBatch]:
        """The rows of whole partitions with their window values."""
        window = self.node.window
        evaluator = self.evaluator
        if self.edges is None:
            self.edges = self._edge(window.frame.start), self._edge(window.frame.end)
        vectors = [evaluator.value(term.expression, batch) for term in window.order]
        layout = Layout(new_partition, changes(vectors, [term.collation for term in window.order], batch.count))
        frames = Frames(layout, window.frame.unit, *self.edges)
        shared: dict[Any, Sums] = {}
        columns = {name: batch.column(name) for name in self.names}
        for name, call in zip(self.outputs, self.node.calls, strict=True):
            columns[name] = self._column(call, batch, frames, shared)
        out = of_vectors(batch.count, columns)
        for start in range(0, out.count, OUTPUT_ROWS):
            yield out if out.count <= OUTPUT_ROWS else out.slice(start, min(out.count, start + OUTPUT_ROWS))

    def _column(self, call: WindowCall, batch: ColumnBatch, frames: Frames, shared: dict[Any, Sums]) -> ColumnVector:
        evaluator = self.evaluator
        arguments = [evaluator.value(argument, batch) for argument in call.arguments]
        kind = call.function.kind
        if call.function.is_window:
            return COLUMNS[kind](frames, arguments)
        condition = None if call.condition is None else evaluator.truth(call.condition, batch)[0]
        if kind == "count":
            return run_count(frames, arguments[0] if arguments else None, condition)
        if kind in ("min", "max"):
            return run_extreme(frames, arguments[0], condition, kind == "min", call.using)
        key = (call.arguments[0].key(), None if call.condition is None else call.condition.key())
        sums = shared.get(key)
        if sums is None:
            sums = shared[key] = Sums(frames, arguments[0], condition)
        return getattr(sums, kind)()  # type: ignore[no-any-return]


def run_window(node: WindowPass, activation: Activation) -> Iterator[ColumnBatch]:
    """Run a WindowPass."""
    windows = Windows(node, activation)
    blocks: list[ColumnBatch] = []
    held = 0
    wanted = HELD_ROWS
    interrupt = activation.context.interrupt
    for batch in resolve("sqlvec.exec.vector.pipeline:open_node")(node.input, activation):
        if not batch.count:
            continue
        blocks.append(of_vectors(batch.count, {name: batch.column(name).detached() for name in windows.names}))
        held += batch.count
        if held < wanted or not node.window.partition:
            continue
        if interrupt[0]:
            raise Restart
        whole = _joined(blocks, windows.names)
        new = windows.new_partitions(whole)
        last = int(np.flatnonzero(new)[-1])       # the last partition may go on
        if last:
            yield from windows.deliver(whole.slice(0, last), new[:last])
            whole = _detached(whole.slice(last, held), windows.names)
        blocks = [whole]
        held = whole.count
        wanted = max(HELD_ROWS, 2 * held)
    if held:
        whole = _joined(blocks, windows.names)
        blocks = []
        yield from windows.deliver(whole, windows.new_partitions(whole))


def _joined(blocks: list[ColumnBatch], names: list[Any]) -> ColumnBatch:
    count = sum(block.count for block in blocks)
    return of_vectors(count, {name: concatenate([block.column(name) for block in blocks]) for name in names})


def _detached(batch: ColumnBatch, names: list[Any]) -> ColumnBatch:
    return of_vectors(batch.count, {name: batch.column(name).detached() for name in names})


# --- functions that exist only as window functions -----------------------------------------------------------------------------------------


def _whole_numbers(vector: ColumnVector) -> Any:
    """The integers of an argument (a constant: once for every row); anything else is for the row engine."""
    if type(vector.tags) is not int or vector.tags != INTEGER:
        raise Restart
    return vector.flat().bits


def row_number(frames: Frames, arguments: list[ColumnVector]) -> ColumnVector:
    layout = frames.layout
    return integers(layout.rows - layout.first + 1)


def rank(frames: Frames, arguments: list[ColumnVector]) -> ColumnVector:
    layout = frames.layout
    return integers(layout.peer_first - layout.first + 1)


def dense_rank(frames: Frames, arguments: list[ColumnVector]) -> ColumnVector:
    layout = frames.layout
    return integers(layout.group - layout.group.take(layout.first) + 1)


def percent_rank(frames: Frames, arguments: list[ColumnVector]) -> ColumnVector:
    layout = frames.layout
    return reals((layout.peer_first - layout.first) / np.maximum(layout.behind - layout.first - 1, 1))


def cume_dist(frames: Frames, arguments: list[ColumnVector]) -> ColumnVector:
    layout = frames.layout
    return reals((layout.peer_behind - layout.first) / (layout.behind - layout.first))


def ntile(frames: Frames, arguments: list[ColumnVector]) -> ColumnVector:
    """The first ``rows % buckets`` buckets hold one row more; the argument is that of the partition's first row."""
    layout = frames.layout
    buckets = _whole_numbers(arguments[0]).take(layout.first)
    if (buckets <= 0).any():
        raise Restart
    size, larger = np.divmod(layout.behind - layout.first, buckets)
    row = layout.rows - layout.first
    in_larger = larger * (size + 1)
    return integers(np.where(row < in_larger, row // (size + 1), larger + (row - in_larger) // np.maximum(size, 1)) + 1)


def _shifted(frames: Frames, arguments: list[ColumnVector], sign: int) -> ColumnVector:
    layout = frames.layout
    if len(arguments) < 2:
        places = layout.rows + sign
        inside = (places >= layout.first) & (places < layout.behind)
    else:
        if arguments[1].null_mask() is True:
            inside = np.zeros(layout.count, bool)
            places = layout.rows
        else:
            distance = _whole_numbers(arguments[1])
            distance = np.minimum(np.maximum(distance, -layout.count), layout.count)
            places = layout.rows + sign * distance
            inside = (places >= layout.first) & (places < layout.behind)
            if sign < 0:
                inside &= distance >= 0           # lag() runs while rows arrive: nothing is ahead
    return _chosen(arguments[0], places, inside, arguments[2] if len(arguments) > 2 else None)


def _chosen(vector: ColumnVector, places: Any, inside: Any, otherwise: ColumnVector | None = None) -> ColumnVector:
    """The values at ``places``; where not ``inside`` those of ``otherwise`` (NULL without)."""
    if inside.all():
        return vector.take(places)
    rows = np.flatnonzero(inside)
    parts = [(rows, vector.take(places.take(rows)))]
    if otherwise is not None:
        rest = np.flatnonzero(~inside)
        parts.append((rest, otherwise.take(rest)))
    return merge(len(places), parts)


def lag(frames: Frames, arguments: list[ColumnVector]) -> ColumnVector:
    return _shifted(frames, arguments, -1)


def lead(frames: Frames, arguments: list[ColumnVector]) -> ColumnVector:
    return _shifted(frames, arguments, 1)


def first_value(frames: Frames, arguments: list[ColumnVector]) -> ColumnVector:
    return _chosen(arguments[0], frames.starts, ~frames.empty)


def last_value(frames: Frames, arguments: list[ColumnVector]) -> ColumnVector:
    return _chosen(arguments[0], frames.ends - 1, ~frames.empty)


def nth_value(frames: Frames, arguments: list[ColumnVector]) -> ColumnVector:
    number = _whole_numbers(arguments[1])
    if (number <= 0).any():
        raise Restart
    places = frames.starts + np.minimum(number, frames.layout.count + 1) - 1
    return _chosen(arguments[0], places, places < frames.ends)


COLUMNS: dict[str, Callable[[Frames, list[ColumnVector]], ColumnVector]] = {
    "row_number": row_number,
    "rank": rank,
    "dense_rank": dense_rank,
    "percent_rank": percent_rank,
    "cume_dist": cume_dist,
    "ntile": ntile,
    "lag": lag,
    "lead": lead,
    "first_value": first_value,
    "last_value": last_value,
    "nth_value": nth_value,
}

__all__ = ["run_window"]
