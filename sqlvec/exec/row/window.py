"""Window functions: one pass over input sorted by (partition, order).

A partition is gathered, its peers and frames are computed (``window_frame``), then every call gives a column of values, one per row.

Aggregates over frames slide: rows entering are ``step``ped, rows leaving ``inverse``d, in the order of SQLite (leave first, then enter; the other way round
where the frame starts behind the current row), so that float sums agree.  With EXCLUDE (even NO OTHERS), or for states without ``inverse``, each frame is
aggregated anew.

Follows "Window Functions" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.exec.row.ephemeral import SortTerm, hash_function
from sqlvec.exec.row.sort import as_sorter_keeps
from sqlvec.exec.row.window_frame import Bounds, Peers, check_offset, frame_rows
from sqlvec.expr.bound import Column
from sqlvec.expr.operations import is_true, plain
from sqlvec.functions import window as window_functions
from sqlvec.plan import physical
from sqlvec.values.compare import compare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from sqlvec.exec.operators import Compiler
    from sqlvec.expr.bound import WindowCall


class Partition:
    """One partition: its rows' ``arguments`` (all evaluated expressions of the pass), peers, frames."""

    __slots__ = ("count", "ends", "exclude", "lead", "peers", "starts", "starts_behind", "values")

    def __init__(self, values: list[tuple[Any, ...]], peers: Peers) -> None:
        self.values = values
        self.count = len(values)
        self.peers = peers
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.exclude: str | None = None
        self.starts_behind = False
        self.lead: list[tuple[int, int]] = []

    def frame(self, row: int) -> Any:
        """The positions of a row's frame."""
        if self.exclude in (None, "NO OTHERS"):
            return range(self.starts[row], self.ends[row])
        return frame_rows(self.starts[row], self.ends[row], row, self.exclude, self.peers)  # type: ignore[arg-type]


def frame_value(state: Any) -> Any:
    """The value of a state over a frame; group_concat() has its own there."""
    value = getattr(state, "window_value", None)
    return state.value() if value is None else value()


def finish(state: Any) -> None:
    """Tell a state that its partition has ended, if it wants to know (user-defined window functions do)."""
    end = getattr(state, "finish", None)
    if end is not None:
        end()


class CompiledCall:
    """One call: the places of its arguments in the evaluated tuple, and the place of its FILTER condition."""

    __slots__ = ("call", "collation", "condition", "context", "places")

    def __init__(self, call: WindowCall, places: tuple[int, ...], condition: int | None, collation: Any) -> None:
        self.call = call
        self.places = places
        self.condition = condition
        self.collation = collation
        self.context: Any = None

    def column(self, partition: Partition) -> Iterable[Any]:
        """The value of every row of the partition."""
        function = self.call.function
        if function.is_window:
            return COLUMNS[function.kind](self, partition)
        return self.aggregate(partition)

    # --- aggregates ------------------------------------------------------------------------------------------------------------------------

    def state(self) -> Any:
        """A fresh aggregate state."""
        function = self.call.function
        if function.uses_collation:
            return function.start(self.collation)
        if function.context:
            return function.start(self.context.function_context)
        return function.start()

    def inputs(self, partition: Partition) -> list[tuple[Any, ...] | None]:
        """The arguments of each row; None where FILTER drops it."""
        places = self.places
        condition = self.condition
        found: list[tuple[Any, ...] | None] = []
        for values in partition.values:
            if condition is not None and not is_true(values[condition]):
                found.append(None)
            else:
                found.append(tuple([values[place] for place in places]))
        return found

    def aggregate(self, partition: Partition) -> list[Any]:
        """The aggregate over each row's frame."""
        inputs = self.inputs(partition)
        starts, ends = partition.starts, partition.ends
        if partition.exclude is not None:
            return [self._whole([inputs[position] for position in partition.frame(row)], True) for row in range(partition.count)]
        moves = self.call.window.frame.start[0] != "UNBOUNDED PRECEDING"
        if moves and self.call.function.kind in ("min", "max") and self.call.function.builtin:
            # As in the original, FILTER has no effect on min and max over frames whose start moves.
            return self._sliding_extreme(partition, [tuple([values[place] for place in self.places]) for values in partition.values])
        if not any(starts):
            return self._growing(partition, inputs)
        state = self.state()
        if not hasattr(state, "inverse"):
            return [self._whole(inputs[start:end]) for start, end in zip(starts, ends, strict=True)]
        return self._sliding(partition, inputs, state)

    def _whole(self, inputs: list[tuple[Any, ...] | None], is_final: bool = False) -> Any:
        state = self.state()
        step = state.step
        for arguments in inputs:
            if arguments is not None:
                step(*arguments)
        return plain(state.value() if is_final else frame_value(state))

    def _growing(self, partition: Partition, inputs: list[tuple[Any, ...] | None]) -> list[Any]:
        """Frames that all start at the first row."""
        state = self.state()
        step = state.step
        position = 0
        found: list[Any] = []
        value: Any = None
        last = -1
        for end in partition.ends:
            if end != last:
                for arguments in inputs[position:end]:
                    if arguments is not None:
                        step(*arguments)
                position = max(position, end)
                value = plain(frame_value(state))
                last = end
            found.append(value)
        finish(state)
        return found

    def _sliding(self, partition: Partition, inputs: list[tuple[Any, ...] | None], state: Any) -> list[Any]:
        step, inverse = state.step, state.inverse
        first = behind = 0                      # rows first..behind-1 are in the state
        found = []
        for gone, entered in partition.lead:
            first = self._feed(inputs, first, min(gone, behind), inverse)
            behind = self._feed(inputs, behind, entered, step)
        for start, end in zip(partition.starts, partition.ends, strict=True):
            if partition.starts_behind:
                behind = self._feed(inputs, behind, end, step)
            first = self._feed(inputs, first, min(start, behind), inverse)
            if not partition.starts_behind:
                if start > behind:
                    first = behind = start
                behind = self._feed(inputs, behind, end, step)
            found.append(plain(frame_value(state)))
        finish(state)
        return found

    def _feed(self, inputs: list[tuple[Any, ...] | None], position: int, end: int, feed: Any) -> int:
        """Give the rows up to ``end`` to ``feed``; returns the new position."""
        for arguments in inputs[position:end]:
            if arguments is not None:
                feed(*arguments)
        return max(position, end)

    def _sliding_extreme(self, partition: Partition, inputs: list[tuple[Any, ...] | None]) -> list[Any]:
        """min and max over sliding frames: candidates in order, the best first; of equal ones (by the collation) the last stays."""
        collation = self.collation
        sign = 1 if self.call.function.kind == "min" else -1
        candidates: list[tuple[int, Any]] = []
        head = 0
        behind = 0
        found = []
        for start, end in zip(partition.starts, partition.ends, strict=True):
            for position in range(behind, end):
                arguments = inputs[position]
                if arguments is None or arguments[0] is None:
                    continue
                value = arguments[0]
                while len(candidates) > head and compare(candidates[-1][1], value, collation) * sign >= 0:
                    candidates.pop()
                candidates.append((position, value))
            behind = max(behind, end)
            while head < len(candidates) and candidates[head][0] < start:
                head += 1
            if head > 1000:
                del candidates[:head]
                head = 0
            found.append(candidates[head][1] if head < len(candidates) and start < end else None)
        return found


# --- functions that exist only as window functions -----------------------------------------------------------------------------------------


def row_number(call: CompiledCall, partition: Partition) -> list[Any]:
    return list(range(1, partition.count + 1))


def rank(call: CompiledCall, partition: Partition) -> list[Any]:
    return [partition.peers.first(row) + 1 for row in range(partition.count)]


def dense_rank(call: CompiledCall, partition: Partition) -> list[Any]:
    return [group + 1 for group in partition.peers.group]


def percent_rank(call: CompiledCall, partition: Partition) -> list[Any]:
    return [window_functions.percent_rank(partition.peers.first(row) + 1, partition.count) for row in range(partition.count)]


def cume_dist(call: CompiledCall, partition: Partition) -> list[Any]:
    return [window_functions.cume_dist(partition.peers.end(row), partition.count) for row in range(partition.count)]


def ntile(call: CompiledCall, partition: Partition) -> list[Any]:
    buckets = window_functions.ntile_count(partition.values[0][call.places[0]])
    return [window_functions.ntile_bucket(row, partition.count, buckets) for row in range(partition.count)]


def _shifted(call: CompiledCall, partition: Partition, sign: int) -> list[Any]:
    places = call.places
    values = partition.values
    found = []
    for row in range(partition.count):
        distance = 1 if len(places) < 2 else window_functions.offset_distance(values[row][places[1]])
        # lag() runs while rows arrive: a negative distance finds nothing ahead.
        position = -1 if distance is None or (sign < 0 and distance < 0) else row + sign * distance
        if 0 <= position < partition.count:
            found.append(values[position][places[0]])
        else:
            found.append(values[row][places[2]] if len(places) > 2 else None)
    return found


def lag(call: CompiledCall, partition: Partition) -> list[Any]:
    return _shifted(call, partition, -1)


def lead(call: CompiledCall, partition: Partition) -> list[Any]:
    return _shifted(call, partition, 1)


def first_value(call: CompiledCall, partition: Partition) -> Iterator[Any]:
    return _nth(call, partition, lambda frame, row: frame[0] if frame else None)


def last_value(call: CompiledCall, partition: Partition) -> Iterator[Any]:
    return _nth(call, partition, lambda frame, row: frame[-1] if frame else None)


def nth_value(call: CompiledCall, partition: Partition) -> Iterator[Any]:
    def pick(frame: Any, row: int) -> int | None:
        number = window_functions.nth_value_position(partition.values[row][call.places[1]])
        return frame[number - 1] if number <= len(frame) else None

    return _nth(call, partition, pick)


def _nth(call: CompiledCall, partition: Partition, pick: Callable[[Any, int], int | None]) -> Iterator[Any]:
    """A value at a time: what is wrong with a later row's arguments shows only when that row is reached."""
    place = call.places[0]
    for row in range(partition.count):
        position = pick(partition.frame(row), row)
        yield None if position is None else partition.values[position][place]


COLUMNS: dict[str, Callable[[CompiledCall, Partition], Iterable[Any]]] = {
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


# --- the operator --------------------------------------------------------------------------------------------------------------------------


class WindowPlan:
    """A compiled pass: one Maker for all expressions, and where each of them stands in its result."""

    def __init__(self, node: physical.WindowPass, compiler: Compiler) -> None:
        window = node.window
        expressions: list[Any] = [*window.partition, *(term.expression for term in window.order)]
        self.partition_width = len(window.partition)
        self.order_width = len(window.order)
        collations = [compiler.collations.lookup(expression.collation) for expression in window.partition]
        self.partition_key = hash_function(tuple(range(self.partition_width)), tuple(collations)) if collations else None  # type: ignore[arg-type]
        order_places = tuple(range(self.partition_width, self.partition_width + self.order_width))
        terms = []
        for place, term in zip(order_places, window.order, strict=True):
            collation = compiler.collations.lookup(term.collation)
            if collation is None:
                raise errors.no_such_collation(term.collation)
            terms.append(SortTerm(place, collation, term.descending, term.nulls_last))
        self.order_key = hash_function(order_places, tuple(term.collation for term in terms)) if terms else None
        self.calls = []
        subtypes: list[int] = []
        for call in node.calls:
            places = tuple(range(len(expressions), len(expressions) + len(call.arguments)))
            if getattr(call.function, "json_args", False):
                subtypes += places
            expressions += call.arguments
            condition = None
            if call.condition is not None:
                condition = len(expressions)
                expressions.append(call.condition)
            self.calls.append(CompiledCall(call, places, condition, compiler.collations.lookup(call.using)))
        kind = "tuple:" + ",".join(map(str, subtypes)) if subtypes else "tuple"
        self.maker = compiler.function(tuple(expressions), node.input.columns, kind)
        self.kept_places = _kept_places(node.input, expressions, self.partition_width + self.order_width)
        frame = window.frame
        self.frame = frame
        self.is_distance = frame.unit == "RANGE" and (frame.start[1] is not None or frame.end[1] is not None)
        self.term = terms[0] if self.is_distance else None
        offsets = [edge for edge in (frame.start[1], frame.end[1]) if edge is not None]
        self.offsets = compiler.function(tuple(offsets), ()) if offsets else None

    def bounds(self, activation: Any, outer: Any) -> Bounds:
        """The frame with its offsets evaluated and checked."""
        frame = self.frame
        values = [] if self.offsets is None else list(self.offsets.bind(activation)((), outer))
        edges = []
        for (kind, expression), which in ((frame.start, "starting"), (frame.end, "ending")):
            edges.append((kind, None if expression is None else check_offset(values.pop(0), frame.unit, which)))
        return Bounds(frame.unit, edges[0], edges[1], self.term)


def _kept_places(node: physical.Node, expressions: list[Any], first: int) -> tuple[int, ...]:
    """Arguments (from place ``first`` on) that are computed REAL columns: the original's temporary table keeps them as a sorter does."""
    project = node.input if isinstance(node, physical.Sort) else node
    keys = {(node.columns[place].source, node.columns[place].number) for place in physical.computed_reals(project)}
    return tuple(place for place, one in enumerate(expressions)
                 if place >= first and isinstance(one, Column) and (one.source, one.number) in keys)


def open_window_pass(node: physical.WindowPass, compiler: Compiler) -> Any:
    """Compile a WindowPass."""
    source = compiler.operator(node.input)
    plan = WindowPlan(node, compiler)

    def window_rows(activation: Any, outer: Any) -> Iterator[tuple[Any, ...]]:
        evaluate = plan.maker.bind(activation)
        interrupt = activation.context.interrupt
        for call in plan.calls:
            call.context = activation.context
        rows: list[tuple[Any, ...]] = []
        values: list[tuple[Any, ...]] = []
        current: Any = None
        bounds: Bounds | None = None
        for row in source(activation, outer):
            evaluated = evaluate(row, outer)
            if plan.kept_places:
                evaluated = next(as_sorter_keeps((evaluated,), plan.kept_places))
            if plan.partition_key is not None:
                key = plan.partition_key(evaluated)
                if rows and key != current:
                    bounds = bounds or plan.bounds(activation, outer)
                    yield from _deliver(plan, bounds, rows, values)
                    rows, values = [], []
                    if interrupt[0]:
                        raise errors.Interrupted()
                current = key
            rows.append(row)
            values.append(evaluated)
        if rows:
            yield from _deliver(plan, bounds or plan.bounds(activation, outer), rows, values)

    return window_rows


def _deliver(plan: WindowPlan, bounds: Bounds, rows: list[tuple[Any, ...]], values: list[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """The rows of one partition with their window values."""
    peers = Peers(None if plan.order_key is None else [plan.order_key(row) for row in values], len(rows))
    partition = Partition(values, peers)
    order_values: list[Any] = []
    if plan.is_distance:
        assert plan.term is not None
        place = plan.term.place
        order_values = [row[place] for row in values]
    partition.starts, partition.ends = bounds.compute(peers, order_values)
    partition.exclude = plan.frame.exclude
    partition.starts_behind = plan.frame.start[0] == "FOLLOWING"
    if partition.starts_behind and bounds.unit != "RANGE" and bounds.end[0] == "FOLLOWING" and bounds.start[1] <= bounds.end[1]:
        partition.starts_behind = False
        partition.lead = bounds.lead(peers)
    if not plan.calls:
        yield from rows
        return
    columns = [call.column(partition) for call in plan.calls]
    for row, *extra in zip(rows, *columns, strict=True):
        yield (*row, *extra)
