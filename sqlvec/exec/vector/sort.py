"""Sort, top-N and Distinct.

Sort keeps the detached columns of all rows and puts them in order once.  With a LIMIT right above only the first ``limit + offset`` rows
matter: after enough rows are held, each further batch is first cut to the rows that come before the worst one held, and what is held is cut
back whenever it has doubled.  A sort whose input has its leading keys in order already is the same stable sort.  A sort of more than the memory
budget writes sorted runs to a temporary file (runs.py).
"""
from __future__ import annotations

from sqlvec.columnar.batch import ColumnBatch, of_vectors
from sqlvec.columnar.dictionary import KeySet
from sqlvec.columnar.kernels.compare import compare
from sqlvec.columnar.numeric import np
from sqlvec.columnar.ordering import SortKey, sort_order
from sqlvec.columnar.vector import ColumnVector, concatenate
from sqlvec.exec.vector.aggregate import first_rows
from sqlvec.exec.vector.evaluate import Evaluator
from sqlvec.exec.vector.runs import Runs, bytes_of
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.exec.program import Activation
    from sqlvec.plan.physical import Distinct, Sort

OUTPUT_ROWS = 8192
_TOP_LIMIT = 50_000


class Sorting:
    """The held rows of one Sort: vectors per output column, and per sort key (prefixed ``"key"``)."""

    def __init__(self, node: Sort, activation: Activation) -> None:
        self.node = node
        self.names: list[Any] = [(column.source, column.number) for column in node.columns]
        self.evaluator = Evaluator([term.expression for term in node.keys], activation)
        self.blocks: list[dict[Any, ColumnVector]] = []
        self.count = 0
        self.wanted = self._wanted()
        self.is_full = False
        settings = activation.context.settings
        self.budget = settings.memory_budget
        self.directory = settings.temp_store_directory
        self.bytes = 0
        self.runs: Runs | None = None
        self.run_keys: list[dict[Any, ColumnVector]] = []

    def _wanted(self) -> int | None:
        """How many rows the LIMIT above needs, or None for all."""
        limit, offset = self.node.limit, self.node.offset
        if limit is None:
            return None
        total = 0
        for expression in (limit, offset):
            single = self.evaluator.constant(expression) if expression is not None else None
            value = single.value(0) if single is not None else 0
            if type(value) is not int or (expression is limit and value < 0):
                return None
            total += max(0, value)
        return total if total <= _TOP_LIMIT else None

    def step(self, batch: ColumnBatch) -> None:
        keys = [self.evaluator.value(term.expression, batch) for term in self.node.keys]
        if self.is_full:
            rows = self._candidates(keys[0])
            if rows is not None:
                if not len(rows):
                    return
                batch = batch.take(rows)
                keys = [key.take(rows) for key in keys]
        block = {name: batch.column(name).detached() for name in self.names}
        for number, key in enumerate(keys):
            block["key", number] = key.detached()
        self.blocks.append(block)
        self.count += batch.count
        if self.wanted is None:
            self.bytes += sum(map(bytes_of, block.values()))
            if self.bytes > self.budget and self.names:
                self._write_run()
        elif self.count >= max(2 * self.wanted, 4096):
            self._cut()

    def _candidates(self, first_key: ColumnVector) -> Any:
        """Rows of a batch whose first key isn't behind that of the worst row held."""
        term = self.node.keys[0]
        assert self.wanted is not None
        worst = self.blocks[0]["key", 0].slice(self.wanted - 1, self.wanted)
        null = first_key.null_mask()
        if term.nulls_last is not None or null is not None or worst.value(0) is None:
            return None
        worst = worst.flat()
        single = ColumnVector(first_key.count, worst.tags if type(worst.tags) is int else int(worst.tags[0]), worst.bits, worst.length,
                              worst.heap, True)
        true, _ = compare(">=" if term.descending else "<=", first_key, single, term.collation)
        return np.flatnonzero(true)

    def _cut(self) -> None:
        """Keep the first ``wanted`` rows only."""
        vectors, order = self._sorted()
        order = order[:self.wanted]
        self.blocks = [{name: vector.take(order).detached() for name, vector in vectors.items()}]
        self.count = len(order)
        self.is_full = self.count == self.wanted and self.count > 0

    def _write_run(self) -> None:
        """Move the rows held to the temporary file, sorted; their keys stay."""
        vectors, order = self._sorted()
        if self.runs is None:
            self.runs = Runs(self.directory, self.names)
        self.runs.add(vectors, order)
        self.run_keys.append({name: vector.take(order).detached() for name, vector in vectors.items() if name[0] == "key"})
        self.blocks = []
        self.count = self.bytes = 0

    def _merged(self) -> Iterator[ColumnBatch]:
        """All runs in one order."""
        if self.count:
            self._write_run()
        assert self.runs is not None
        keys = []
        for number, term in enumerate(self.node.keys):
            vector = concatenate([block["key", number] for block in self.run_keys])
            keys.append(SortKey(vector, term.descending, term.nulls_last, term.collation))
        order = sort_order(keys, sum(run.count for run in self.runs.runs))
        try:
            for start in range(0, len(order), OUTPUT_ROWS):
                places = order[start:start + OUTPUT_ROWS]
                yield of_vectors(len(places), self.runs.rows(places))
        finally:
            self.runs.close()

    def _sorted(self) -> tuple[dict[Any, ColumnVector], Any]:
        names = self.blocks[0].keys()
        vectors = {name: concatenate([block[name] for block in self.blocks]) for name in names}
        keys = [SortKey(vectors["key", number], term.descending, term.nulls_last, term.collation) for number, term in enumerate(self.node.keys)]
        return vectors, sort_order(keys, self.count)

    def result(self) -> Iterator[ColumnBatch]:
        if self.runs is not None:
            yield from self._merged()
            return
        if not self.count:
            return
        vectors, order = self._sorted()
        if self.wanted is not None:
            order = order[:self.wanted]
        batch = of_vectors(self.count, {name: vectors[name] for name in self.names})
        for start in range(0, len(order), OUTPUT_ROWS):
            yield batch.take(order[start:start + OUTPUT_ROWS])


def run_sort(node: Sort, activation: Activation) -> Iterator[ColumnBatch]:
    sorting = Sorting(node, activation)
    for batch in resolve("sqlvec.exec.vector.pipeline:open_node")(node.input, activation):
        if batch.count:
            sorting.step(batch)
    yield from sorting.result()


def run_distinct(node: Distinct, activation: Activation) -> Iterator[ColumnBatch]:
    """The first row of each set of equal rows, in arrival order."""
    seen = KeySet(node.collations[:node.width])
    names = [(column.source, column.number) for column in node.columns[:node.width]]
    for batch in resolve("sqlvec.exec.vector.pipeline:open_node")(node.input, activation):
        if not batch.count:
            continue
        known = seen.count
        ids = seen.add([batch.column(name) for name in names], batch.count)
        rows = first_rows(ids - 1, known, seen.count)
        if len(rows):
            yield batch.take(rows)


__all__ = ["Sorting", "run_distinct", "run_sort"]
