"""Hash aggregation: the Aggregate node in all its modes.

Rows are grouped by a :class:`KeySet`, whose ids grow in the order of first appearance (where equal keys arrive adjacent, by comparing
neighbours, :class:`RunIds`); every accumulator takes (group ids, vector) batch by
batch, rows in plan order (kernels/aggregate.py says why that matters).  What leaves::

    plain     one row, always
    grouped   groups in order of first appearance (the input has equal keys adjacent)
    sorted    groups sorted by ``key_order``, only the keys are sorted

Invariants:

1. The printed form of a key and the bare columns are those of the first row of the group, or of the row where the node's ``extreme`` took its
   last new value.
2. sum, total and avg of one argument share one accumulator.
3. An aggregate without an accumulator here (group_concat, JSON) keeps the row engine's own state per group and steps it row by row.
"""
from __future__ import annotations

from sqlvec.columnar.batch import ColumnBatch, of_vectors
from sqlvec.columnar.dictionary import KeySet
from sqlvec.columnar.kernels.aggregate import Count, Extreme, Sum
from sqlvec.columnar.numeric import np
from sqlvec.columnar.ordering import SortKey, sort_order
from sqlvec.columnar.vector import TEXT, ColumnVector, concatenate, from_values, integers, merge, nulls
from sqlvec.exec.vector.evaluate import Evaluator
from sqlvec.exec.vector.late_distinct import Adjacent, LateDistinct
from sqlvec.exec.vector.runs import ExternalSort, Term, block_of, bytes_of
from sqlvec.exec.vector.window_layout import changes
from sqlvec.expr import bound
from sqlvec.functions.aggregate import number_argument
from sqlvec.plan import physical
from sqlvec.resolve import resolve
from sqlvec.values.storage import TEXT as TEXT_AFFINITY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.exec.program import Activation
    from sqlvec.expr.bound import AggregateCall
    from sqlvec.plan.physical import Aggregate

_SUMS = frozenset(("sum", "total", "avg"))
_STATE_BYTES = 40                                 # of an accumulator, per group
_ROW_STATE_BYTES = 400
FEW_GROUPS = 1000                                 # so many groups are held whatever the budget
GROUPS_HELD = 50_000                              # complete groups that are held before they leave
OUTPUT_ROWS = 8192


class RowStates:
    """An aggregate that is stepped row by row: one state of the row engine's function per group."""

    def __init__(self, call: AggregateCall, activation: Activation) -> None:
        function = call.function
        context = activation.context
        if function.uses_collation:
            bound = (context.collations.lookup(call.using),)
        elif function.context:
            bound = (context.function_context,)
        else:
            bound = ()  # type: ignore[assignment]
        self._start = lambda: function.start(*bound)
        self._states: list[Any] = []

    def step(self, ids: Any, vectors: list[ColumnVector], groups: int) -> None:
        states = self._states
        while len(states) < groups:
            states.append(self._start())
        if not vectors:
            for group in ids.tolist():
                states[group].step()
            return
        for group, *arguments in zip(ids.tolist(), *[vector.values() for vector in vectors], strict=True):
            states[group].step(*arguments)

    def result(self, groups: int) -> ColumnVector:
        self.step(np.zeros(0, np.int64), [], groups)
        return from_values([state.value() for state in self._states[:groups]])


class Call:
    """One aggregate call of the node and the accumulator that serves it (perhaps shared)."""

    def __init__(self, call: AggregateCall, state: Any, shares: bool, is_extreme: bool) -> None:
        self.call = call
        self.state = state
        self.shares = shares                      # another Call steps the state
        self.is_extreme = is_extreme
        self.seen: KeySet | None = None
        self.late: LateDistinct | None = None     # the rows that ``seen`` doesn't know, once it is frozen
        if call.distinct and call.arguments and not is_extreme:
            self.seen = KeySet(["BINARY", call.using])

    def result(self, groups: int) -> ColumnVector:
        if isinstance(self.state, Sum):
            return getattr(self.state, self.call.function.kind)(groups)  # type: ignore[no-any-return]
        return self.state.result(groups)  # type: ignore[no-any-return]


def _share_key(call: AggregateCall) -> Any:
    return ("sum", tuple(argument.key() for argument in call.arguments), call.condition.key() if call.condition is not None else None,
            call.distinct, call.using)


def make_calls(calls: tuple[AggregateCall, ...], activation: Activation) -> list[Call]:
    """Accumulators for the aggregate calls of a node."""
    sums: dict[Any, Sum] = {}
    out = []
    for call in calls:
        kind = call.function.kind
        if kind in _SUMS and call.function.builtin:
            key = _share_key(call)
            shared = key in sums
            out.append(Call(call, sums.setdefault(key, Sum()), shared, False))
        elif kind == "count" and call.function.builtin:
            out.append(Call(call, Count(), False, False))
        elif kind in ("min", "max") and call.function.builtin:
            out.append(Call(call, Extreme(kind == "min", call.using), False, True))
        else:
            out.append(Call(call, RowStates(call, activation), False, False))
    return out


def numeric_argument(vector: ColumnVector) -> ColumnVector:
    """The argument of sum, total and avg: text and blobs become the numbers that they count as."""
    tags = vector.tags
    if type(tags) is int:
        if tags < TEXT:
            return vector
        return from_values([number_argument(value) for value in vector.values()])
    rows = np.flatnonzero(tags >= TEXT)
    if not len(rows):
        return vector
    others = np.flatnonzero(tags < TEXT)
    part = from_values([number_argument(value) for value in vector.take(rows).values()])
    return merge(vector.count, [(rows, part), (others, vector.take(others))])


class RunIds:
    """Group ids where equal keys are adjacent: a new id wherever a row differs from the one before it.  The same face as a KeySet."""

    def __init__(self, collations: list[str]) -> None:
        self.collations = collations
        self.count = 0
        self._adjacent = Adjacent(range(len(collations)), collations)

    def add(self, vectors: list[ColumnVector], count: int) -> Any:
        ids = np.cumsum(self._adjacent.new(dict(enumerate(vectors))))
        ids += self.count
        self.count = int(ids[-1])
        return ids

    def bytes(self) -> int:
        return 0


class Aggregation:
    """The running state of one Aggregate node."""

    def __init__(self, node: Aggregate, activation: Activation, is_adjacent: bool = False) -> None:
        """``is_adjacent``: rows of equal keys arrive one behind the other, and groups leave in that order."""
        self.node = node
        self.settings = activation.context.settings
        self.is_adjacent = is_adjacent or node.mode == "grouped"
        self.calls = make_calls(node.aggregates, activation)
        expressions = [*node.keys, *node.bare]
        for call in node.aggregates:
            expressions += call.arguments
            if call.condition is not None:
                expressions.append(call.condition)
        self.evaluator = Evaluator(expressions, activation)
        self.hashed = independent_keys(node)
        self.keys: Any = None
        if node.keys:
            collations = [node.collations[number] for number in self.hashed]
            self.keys = RunIds(collations) if self.is_adjacent else KeySet(collations)
        self.groups = 0 if node.keys else 1
        self._firsts: list[list[ColumnVector]] = [[] for _ in (*node.keys, *node.bare)]
        self._first_bytes = 0
        self._seen_row = False
        self._bare: list[ColumnVector] | None = None       # of the extreme's rows

    def bytes(self) -> int:
        """About how much memory is held."""
        total = self._first_bytes + self.groups * sum(_STATE_BYTES if not isinstance(call.state, RowStates) else _ROW_STATE_BYTES for call in self.calls)
        total += sum(call.seen.bytes() for call in self.calls if call.seen is not None)
        return total if self.keys is None else total + int(self.keys.bytes())

    # --- input -------------------------------------------------------------------------------------------------------------------

    def step(self, batch: ColumnBatch) -> None:
        if not batch.count:
            return
        ids = self._group_ids(batch)
        for call in self.calls:
            self._step_call(call, ids, batch)

    def _group_ids(self, batch: ColumnBatch) -> Any:
        node = self.node
        evaluator = self.evaluator
        if self.keys is None:
            if not self._seen_row:
                self._seen_row = True
                self._note_firsts([], batch.take(np.zeros(1, np.int64)))
            return np.zeros(batch.count, np.int64)
        vectors = [evaluator.value(key, batch) if number in self.hashed else None for number, key in enumerate(node.keys)]
        known = self.keys.count
        ids = self.keys.add([vectors[number] for number in self.hashed], batch.count) - 1  # type: ignore[misc]
        self.groups = self.keys.count
        if self.groups > known:
            rows = first_rows(ids, known, self.groups)
            fresh = batch.take(rows)
            self._note_firsts([evaluator.value(key, fresh) if vector is None else vector.take(rows)
                               for key, vector in zip(node.keys, vectors, strict=True)], fresh)
        return ids

    def _note_firsts(self, vectors: list[ColumnVector], firsts: ColumnBatch) -> None:
        """Keep the keys and bare columns of the first rows of new groups."""
        bare = [] if self.node.extreme is not None else [firsts.column((column.source, column.number)) for column in self.node.bare]
        for parts, vector in zip(self._firsts, [*vectors, *bare], strict=False):
            parts.append(vector.detached())
            self._first_bytes += bytes_of(parts[-1])

    def last_group(self, batch: ColumnBatch) -> int:
        """The row with which the last group of a batch begins (equal keys arrive adjacent); 0: no group begins behind the first row."""
        node = self.node
        new = changes([self.evaluator.value(node.keys[number], batch) for number in self.hashed], [node.collations[number] for number in self.hashed],
                      batch.count)
        return int(np.flatnonzero(new)[-1])

    def _step_call(self, call: Call, ids: Any, batch: ColumnBatch) -> None:
        if call.shares:
            return
        evaluator = self.evaluator
        condition = call.call.condition
        rows: Any = None
        if condition is not None:
            rows = np.flatnonzero(evaluator.truth(condition, batch)[0])
            if len(rows) == batch.count:
                rows = None
            else:
                ids = ids.take(rows)
                batch = batch.take(rows)
        vectors = [evaluator.value(argument, batch) for argument in call.call.arguments]
        if call.seen is not None:
            fresh = self._distinct_rows(call, ids, vectors)
            ids = ids.take(fresh)
            vectors = [vector.take(fresh) for vector in vectors]
        if isinstance(call.state, Extreme):
            self._step_extreme(call, ids, vectors[0], batch)
        else:
            self._step_state(call.state, ids, vectors)

    def _step_state(self, state: Any, ids: Any, vectors: list[ColumnVector]) -> None:
        if isinstance(state, Sum):
            state.step(ids, numeric_argument(vectors[0].flat()), self.groups)
        elif isinstance(state, Count):
            state.step(ids, vectors[0] if vectors else None, self.groups)
        else:
            state.step(ids, vectors, self.groups)

    def _distinct_rows(self, call: Call, ids: Any, vectors: list[ColumnVector]) -> Any:
        """The rows whose (group, argument) is new; once the set of those is full, rows that it doesn't know are put aside."""
        seen = call.seen
        assert seen is not None
        keys = [integers(ids), vectors[0]]
        if call.late is not None:
            unknown = np.flatnonzero(seen.find(keys, len(ids)) == 0)
            if len(unknown):
                call.late.add([integers(ids.take(unknown)), *[vector.take(unknown) for vector in vectors]], len(unknown))
            return unknown[:0]
        known = seen.count
        fresh = first_rows(seen.add(keys, len(ids)) - 1, known, seen.count)
        if seen.bytes() > self.settings.memory_budget // 3:
            call.late = LateDistinct(list(range(1 + len(vectors))), [0, 1], ["BINARY", call.call.using], self.settings)
        return fresh

    def _step_late(self) -> None:
        """Give the states the distinct rows that were put aside."""
        for call in self.calls:
            if call.late is not None:
                call.seen = None
                for batch in call.late.rows():
                    self._step_state(call.state, batch.column(0).bits, [batch.column(number) for number in range(1, 1 + len(call.call.arguments))])
                call.late = None

    def _step_extreme(self, call: Call, ids: Any, vector: ColumnVector, batch: ColumnBatch) -> None:
        node = self.node
        state = call.state
        is_chosen = node.extreme is not None and self.calls[node.extreme] is call and bool(node.bare)
        if not is_chosen:
            state.step(ids, vector, self.groups)
            return
        # Rows of this batch are numbered from a base no row had before, so that a change shows.
        state.rows = np.minimum(state.rows, 0)
        state.step(ids, vector, self.groups, np.arange(1, batch.count + 1, dtype=np.int64))
        changed = np.flatnonzero(state.rows > 0)
        rows = state.rows.take(changed) - 1
        # A group without a value yet takes its last row (all its arguments are NULL).
        last = np.full(self.groups, -1, np.int64)
        last[ids] = np.arange(batch.count, dtype=np.int64)
        without = np.flatnonzero((state.rows < 0) & (last >= 0))
        changed = np.concatenate([changed, without])
        rows = np.concatenate([rows, last.take(without)])
        fresh = [batch.column((column.source, column.number)).take(rows).detached() for column in node.bare]
        self._replace_bare(changed, fresh)

    def _replace_bare(self, groups: Any, fresh: list[ColumnVector]) -> None:
        if self._bare is None:
            self._bare = [nulls(0) for _ in fresh]
        rest = np.ones(self.groups, bool)
        rest[groups] = False
        for position, vector in enumerate(fresh):
            held = self._bare[position].flat()
            if held.count < self.groups:
                held = concatenate([held, nulls(self.groups - held.count)]).flat()
            others = np.flatnonzero(rest)
            self._bare[position] = merge(self.groups, [(groups, vector), (others, held.take(others))]).detached()

    # --- output ------------------------------------------------------------------------------------------------------------------

    def result(self) -> ColumnBatch:
        """All groups, in the node's order."""
        self._step_late()
        node = self.node
        groups = self.groups
        firsts = [concatenate(parts) if parts else nulls(groups) for parts in self._firsts]
        keys = firsts[:len(node.keys)]
        bare = firsts[len(node.keys):]
        if node.extreme is not None:
            bare = self._bare if self._bare is not None else [nulls(groups) for _ in node.bare]
        vectors = [*keys, *[call.result(groups) for call in self.calls], *bare]
        columns = {(column.source, column.number): vector for column, vector in zip(node.columns, vectors, strict=True)}
        out = of_vectors(groups, columns)
        if node.mode == "sorted" and not self.is_adjacent and groups > 1:
            out = out.take(sort_order(self._sort_keys(keys), groups))
        return out

    def _sort_keys(self, vectors: list[ColumnVector]) -> list[SortKey]:
        by_key = {key.key(): position for position, key in reversed(tuple(enumerate(self.node.keys)))}
        out = []
        for position, term in enumerate(self.node.key_order):
            place = by_key.get(term.expression.key(), position)
            out.append(SortKey(vectors[place], term.descending, term.nulls_last, self.node.collations[place]))
        return out


def independent_keys(node: Aggregate) -> list[int]:
    """The keys that must be hashed: those that the others determine (columns of a row whose rowid is known) are left out.

    A rowid among the keys, or a rowid that a level of the join is searched by, determines the whole row of its source."""
    columns = [key if isinstance(key, bound.Column) else None for key in node.keys]
    order = sorted(range(len(columns)), key=lambda number: columns[number] is None or columns[number].affinity != TEXT_AFFINITY)  # type: ignore[union-attr]
    kept = set(range(len(columns)))
    for number in order:
        column = columns[number]
        if column is None:
            continue
        others = [columns[other] for other in kept if other != number]
        if column.source in _determined_sources(node.input, [other for other in others if other is not None]):
            kept.discard(number)
    return sorted(kept)


def _determined_sources(node: Any, known: list[bound.Column]) -> set[int]:
    """The sources whose row is fixed by the values of ``known``."""
    while isinstance(node, physical.Filter):
        node = node.input
    if not isinstance(node, physical.Join):
        return set()
    sources = {level.path.source for level in node.levels if getattr(level.path, "table", None) is not None}
    found = {column.source for column in known if column.source in sources and column.table is not None and _is_rowid(column)}
    grew = True
    while grew:
        grew = False
        for level in node.levels:
            path = level.path
            if path.source in found or level.kind != "inner" or not isinstance(path, physical.RowidSearch) or path.key is None:
                continue
            column = path.key.expression
            if path.key.kind == "=" and isinstance(column, bound.Column) and (
                    column.source in found or any(column.source == other.source and column.number == other.number for other in known)):
                found.add(path.source)
                grew = True
    return found


def _is_rowid(column: bound.Column) -> bool:
    table = column.table
    assert table is not None
    return not table.without_rowid and (column.number == -1 or column.number == table.rowid_column)


def first_rows(ids: Any, known: int, count: int) -> Any:
    """The row in which each of the ids ``known`` .. ``count``-1 first appears (ascending)."""
    first = np.zeros(count - known, np.int64)
    is_new = np.flatnonzero(ids >= known)
    first[ids.take(is_new)[::-1] - known] = is_new[::-1]
    return first


def aggregate(node: Aggregate, activation: Activation) -> Iterator[ColumnBatch]:
    """Run an Aggregate node.  Where the groups don't fit the memory budget the input is read anew and sorted, on disk."""
    open_node = resolve("sqlvec.exec.vector.pipeline:open_node")
    if node.mode == "grouped" and node.keys:
        yield from grouped(node, open_node(node.input, activation), activation)
        return
    running = Aggregation(node, activation)
    budget = activation.context.settings.memory_budget
    batches = open_node(node.input, activation)
    for batch in batches:
        running.step(batch)
        if node.mode == "sorted" and running.groups > FEW_GROUPS and running.bytes() > budget // 2:
            batches.close()
            del running, batch
            yield from grouped(node, sorted_input(node, activation), activation)
            return
    yield from _pieces(running.result())


def _pieces(result: ColumnBatch) -> Iterator[ColumnBatch]:
    for start in range(0, result.count, OUTPUT_ROWS):
        yield result if result.count <= OUTPUT_ROWS else result.slice(start, min(result.count, start + OUTPUT_ROWS))


def grouped(node: Aggregate, batches: Iterator[ColumnBatch], activation: Activation) -> Iterator[ColumnBatch]:
    """Aggregate rows whose equal keys are adjacent: when many groups are complete they leave, and the last one begins anew."""
    running = Aggregation(node, activation, True)
    budget = activation.context.settings.memory_budget
    interrupt = activation.context.interrupt
    for batch in batches:
        if interrupt[0]:
            activation.context.check_interrupt()
        if batch.count and running.groups and (running.groups > GROUPS_HELD or running.bytes() > budget // 4):
            last = running.last_group(batch)
            if last:
                running.step(batch.slice(0, last))
                yield from _pieces(running.result())
                running = Aggregation(node, activation, True)
                batch = batch.slice(last, batch.count)
        running.step(batch)
    yield from _pieces(running.result())


def sorted_input(node: Aggregate, activation: Activation) -> Iterator[ColumnBatch]:
    """The columns of the input that the node reads, sorted (stably) by its ``key_order``."""
    expressions = [*node.keys, *node.bare]
    for call in node.aggregates:
        expressions += call.arguments
        if call.condition is not None:
            expressions.append(call.condition)
    names: list[Any] = sorted(set().union(*[bound.columns_of(expression) for expression in expressions]))
    outputs = list(names)
    evaluator = Evaluator([term.expression for term in node.key_order], activation)
    own: list[tuple[Any, Any]] = []
    terms = []
    collations = {key.key(): collation for key, collation in reversed(list(zip(node.keys, node.collations, strict=True)))}
    for number, term in enumerate(node.key_order):
        name: Any = ("key", number)
        if isinstance(term.expression, bound.Column):
            name = (term.expression.source, term.expression.number)
        if name not in names:
            names.append(name)
            own.append((name, term.expression))
        terms.append(Term(name, term.descending, term.nulls_last, collations.get(term.expression.key(), node.collations[number])))
    settings = activation.context.settings
    rows = ExternalSort(names, terms, settings.memory_budget // 2, settings.temp_store_directory)
    for batch in resolve("sqlvec.exec.vector.pipeline:open_node")(node.input, activation):
        if batch.count:
            block = block_of(outputs, [batch.column(name) for name in outputs])
            for name, expression in own:
                block[name] = evaluator.value(expression, batch).detached()
            rows.add(block, batch.count)
    for block in rows.rows():
        yield of_vectors(next(iter(block.values())).count, {name: block[name] for name in outputs})


__all__ = ["Aggregation", "aggregate", "first_rows"]
