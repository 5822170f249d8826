"""Correlated sub-queries for many outer rows at once.

The row engine runs a correlated sub-query once per outer row.  Here the outer rows that ask become one more level in front of the
sub-query's join, so that the join steps (join.py) choose between seeks, building and streaming for all of them together::

    EXISTS (SELECT ... FROM t WHERE t.k = outer.k AND ...)      outer rows that have at least one joined row
    (SELECT agg(x) FROM t WHERE t.k = outer.k)                  aggregation grouped by the outer row; rows without partners get the
                                                                value of an aggregation over nothing
    (SELECT x FROM t WHERE t.k = outer.k)                       the first joined row of each outer row, NULL without one

Only sub-queries whose outermost level is searched by keys of the outer row come here; others stay with the row callable.  Outer rows with equal
values of the columns that the sub-query reads ask once.
"""
from __future__ import annotations

from sqlvec.columnar.batch import ColumnBatch, of_vectors
from sqlvec.columnar.dictionary import KeySet
from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import INTEGER, ColumnVector, merge, nulls
from sqlvec.exec.vector.aggregate import Aggregation, first_rows
from sqlvec.exec.vector.decline import Restart
from sqlvec.exec.vector.join import Step, level_needs
from sqlvec.exec.vector.join_keys import inner_keys
from sqlvec.expr import bound
from sqlvec.plan import physical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.exec.program import Activation
    from sqlvec.exec.vector.evaluate import Evaluator
    from sqlvec.expr.bound import Subquery

ORDINAL = (-7, 0)
FEWEST_ROWS = 64


class Apply:
    """One correlated sub-query, analysed."""

    def __init__(self, subquery: Subquery, activation: Activation) -> None:
        self.activation = activation
        self.steps: list[Step] = []
        self.outer = list({(column.source, column.number): None for column in subquery.outer})
        node: Any = subquery.plan
        if isinstance(node, physical.Limit):
            if not (isinstance(node.limit, bound.Literal) and type(node.limit.value) is int and node.limit.value >= 1) or node.offset is not None:
                raise Restart
            node = node.input
        self.project: physical.Project | None = None
        if isinstance(node, physical.Project):
            self.project = node
            node = node.input
        self.aggregate: physical.Aggregate | None = None
        if isinstance(node, physical.Aggregate):
            if node.mode != "plain" or node.extreme is not None:
                raise Restart
            self.aggregate = node
            node = node.input
        if not isinstance(node, physical.Join) or node.constants:
            raise Restart
        self.join = node
        for number, level in enumerate(node.levels):
            if level.kind not in ("inner", "left") or (level.kind == "left" and number == 0) or level.rest is not None:
                raise Restart
            path = level.path
            if isinstance(path, physical.QueryScan) or isinstance(getattr(path, "input", None), physical.QueryScan):
                raise Restart
            keys = inner_keys(path)
            if number == 0 and not keys.terms:
                raise Restart

    # --- running ---------------------------------------------------------------------------------------------------------------

    def _joined(self, outer: ColumnBatch, ordered: bool) -> Iterator[ColumnBatch]:
        """The joined rows.  The steps stay: one that is asked again keeps what it builds of its inner side."""
        if not self.steps:
            needs = level_needs(self.join, ordered)
            extra = {ORDINAL} if not ordered else {ORDINAL, *self.outer}
            earlier = {source for source, _ in (ORDINAL, *self.outer)}
            for number, level in enumerate(self.join.levels):
                step = Step(level, earlier, needs[number] | extra, self.activation, ordered)
                step.repeats = True
                self.steps.append(step)
                earlier = earlier | {level.path.source}
        batches: Iterator[ColumnBatch] = iter((outer,))
        for step in self.steps:
            batches = step.rows(batches)
        return batches

    def _outer_batch(self, batch: ColumnBatch) -> tuple[ColumnBatch, Any]:
        """(the distinct outer rows with their ordinals, for each row of the batch its ordinal)."""
        vectors = [batch.column(key) for key in self.outer]
        keys = KeySet(["BINARY"] * len(vectors), exact=True)
        ids = keys.add(vectors, batch.count) - 1
        rows = first_rows(ids, 0, keys.count)
        columns = {key: vector.take(rows).detached() for key, vector in zip(self.outer, vectors, strict=True)}
        columns[ORDINAL] = ColumnVector(len(rows), INTEGER, np.arange(len(rows), dtype=np.int64))
        return of_vectors(len(rows), columns), ids

    def exists(self, batch: ColumnBatch) -> Any:
        """Mask of the rows for which the sub-query has a row."""
        if self.aggregate is not None:
            return np.ones(batch.count, bool)
        columns = {key: batch.column(key) for key in self.outer}
        columns[ORDINAL] = ColumnVector(batch.count, INTEGER, np.arange(batch.count, dtype=np.int64))
        found = np.zeros(batch.count, bool)
        for part in self._joined(of_vectors(batch.count, columns), False):
            if part.count:
                found[part.column(ORDINAL).flat().bits] = True
        return found

    def value(self, batch: ColumnBatch, number: int, evaluator: Evaluator) -> ColumnVector:
        """Column ``number`` of the first row of the sub-query for each row of the batch."""
        outer, ids = self._outer_batch(batch)
        made = self._aggregated(outer) if self.aggregate is not None else self._first(outer)
        if self.project is None:
            column = self.join.columns[number] if self.aggregate is None else self.aggregate.columns[number]
            result = made.column((column.source, column.number))
        else:
            result = evaluator.value(self.project.expressions[number], made)
        if self.aggregate is None:
            missing = np.flatnonzero(made.column(ORDINAL).flat().bits < 0)
            if len(missing):
                there = np.flatnonzero(made.column(ORDINAL).flat().bits >= 0)
                result = merge(outer.count, [(there, result.take(there)), (missing, nulls(len(missing)))])
        return result.flat().detached().take(ids)

    def _aggregated(self, outer: ColumnBatch) -> ColumnBatch:
        """The aggregate's columns for every outer row, beside the outer columns."""
        node = self.aggregate
        assert node is not None
        key = bound.Column(*ORDINAL)
        columns = (key, *node.columns)
        grouped = physical.Aggregate(node.input, "grouped", (key,), ("BINARY",), (bound.OrderTerm(key),), node.aggregates, node.bare, None,
                                     node.source, columns)
        running = Aggregation(grouped, self.activation)
        for part in self._joined(outer, True):
            running.step(part)
        groups = running.result()
        empty = Aggregation(node, self.activation).result()
        rows = groups.column(ORDINAL).flat().bits if groups.count else np.zeros(0, np.int64)
        is_missing = np.ones(outer.count, bool)
        is_missing[rows] = False
        missing = np.flatnonzero(is_missing)
        vectors = {key: outer.column(key) for key in self.outer}
        for column in node.columns:
            name = (column.source, column.number)
            default = empty.column(name).take(np.zeros(len(missing), np.int64))
            parts = [(missing, default)]
            if groups.count:
                parts.append((rows, groups.column(name)))
            vectors[name] = merge(outer.count, parts)
        return of_vectors(outer.count, vectors)

    def _first(self, outer: ColumnBatch) -> ColumnBatch:
        """The first joined row of every outer row; ordinal -1 where there is none."""
        names = [(column.source, column.number) for column in self.join.columns]
        place = np.full(outer.count, -1, np.int64)
        parts: dict[Any, list[tuple[Any, ColumnVector]]] = {name: [] for name in names}
        for part in self._joined(outer, True):
            if not part.count:
                continue
            ordinals = part.column(ORDINAL).flat().bits
            positions = np.arange(part.count, dtype=np.int64)
            first = np.full(outer.count, -1, np.int64)
            first[ordinals[::-1]] = positions[::-1]
            fresh = np.flatnonzero((first >= 0) & (place < 0))
            if len(fresh):
                place[fresh] = fresh
                chosen = part.take(first.take(fresh))
                for name in names:
                    parts[name].append((fresh, chosen.column(name).detached()))
        vectors = {key: outer.column(key) for key in self.outer}
        for name in names:
            vectors[name] = merge(outer.count, parts[name]) if parts[name] else nulls(outer.count)
        vectors[ORDINAL] = ColumnVector(outer.count, INTEGER, place)
        return of_vectors(outer.count, vectors)


def exists(evaluator: Evaluator, node: bound.Exists, batch: ColumnBatch) -> tuple[Any, Any]:
    """EXISTS as masks."""
    made = _apply_of(evaluator, node, batch)
    if made is None:
        return evaluator.truth_of(evaluator.by_rows(node, batch))
    return made.exists(batch), None


def scalar(evaluator: Evaluator, node: bound.ScalarSubquery, batch: ColumnBatch) -> ColumnVector:
    """A scalar sub-query as a vector."""
    made = _apply_of(evaluator, node, batch)
    if made is None:
        return evaluator.by_rows(node, batch)
    return made.value(batch, node.number, evaluator)


def _apply_of(evaluator: Evaluator, node: Any, batch: ColumnBatch) -> Apply | None:
    if batch.count < FEWEST_ROWS:
        return None
    known = evaluator.applies
    if id(node) not in known:
        try:
            known[id(node)] = Apply(node.subquery, evaluator.activation)
        except Restart:
            known[id(node)] = None
    return known[id(node)]  # type: ignore[no-any-return]
