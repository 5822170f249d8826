"""Sort, top-N and Distinct.

Sort keeps the detached columns of all rows and puts them in order once.  With a LIMIT right above only the first ``limit + offset`` rows
matter: after enough rows are held, each further batch is first cut to the rows that come before the worst one held, and what is held is cut
back whenever it has doubled.  A sort whose input has its leading keys in order already is the same stable sort.  A sort of more than the memory
budget writes sorted runs to a temporary file (runs.py); so does Distinct with the rows that its full table of keys doesn't know.
"""
from __future__ import annotations

from sqlvec.columnar.batch import ColumnBatch, of_vectors
from sqlvec.columnar.dictionary import KeySet
from sqlvec.columnar.kernels.compare import compare
from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import ColumnVector
from sqlvec.exec.vector.aggregate import first_rows
from sqlvec.exec.vector.evaluate import Evaluator
from sqlvec.exec.vector.late_distinct import LateDistinct
from sqlvec.exec.vector.runs import ExternalSort, Term
from sqlvec.expr import bound
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.exec.program import Activation
    from sqlvec.plan.physical import Distinct, Sort

_TOP_LIMIT = 50_000


class Sorting:
    """The held rows of one Sort: vectors per output column, and those sort keys that are none (named ``("key", number)``)."""

    def __init__(self, node: Sort, activation: Activation) -> None:
        self.node = node
        self.outputs: list[Any] = [(column.source, column.number) for column in node.columns]
        self.evaluator = Evaluator([term.expression for term in node.keys], activation)
        self.names = list(self.outputs)
        self.key_names: list[Any] = []
        for number, term in enumerate(node.keys):
            name: Any = (term.expression.source, term.expression.number) if isinstance(term.expression, bound.Column) else None
            if name not in self.names:
                name = ("key", number)
                self.names.append(name)
            self.key_names.append(name)
        terms = [Term(name, term.descending, term.nulls_last, term.collation) for name, term in zip(self.key_names, node.keys, strict=True)]
        settings = activation.context.settings
        self.wanted = self._wanted()
        # a top-N holds few rows: it is cut back, never spilled
        self.rows = ExternalSort(self.names, terms, settings.memory_budget * 3 // 4 if self.wanted is None else 1 << 62, settings.temp_store_directory)
        self.is_full = False

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
        block = {name: batch.column(name).detached() for name in self.outputs}
        for name, key in zip(self.key_names, keys, strict=True):
            if name not in block:
                block[name] = key.detached()
        self.rows.add(block, batch.count)
        if self.wanted is not None and self.rows.count >= max(2 * self.wanted, 4096):
            self._cut()

    def _candidates(self, first_key: ColumnVector) -> Any:
        """Rows of a batch whose first key isn't behind that of the worst row held."""
        term = self.node.keys[0]
        assert self.wanted is not None
        worst = self.rows.blocks[0][self.key_names[0]].slice(self.wanted - 1, self.wanted)
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
        vectors, order = self.rows.sorted()
        order = order[:self.wanted]
        self.rows.blocks = [{name: vector.take(order).detached() for name, vector in vectors.items()}]
        self.rows.count = len(order)
        self.is_full = self.rows.count == self.wanted and self.rows.count > 0

    def result(self) -> Iterator[ColumnBatch]:
        left = self.wanted
        for block in self.rows.rows():
            count = next(iter(block.values())).count
            batch = of_vectors(count, {name: block[name] for name in self.outputs})
            if left is not None and count > left:
                batch = batch.slice(0, left)
            if batch.count:
                yield batch
            if left is not None:
                left -= batch.count


def run_sort(node: Sort, activation: Activation) -> Iterator[ColumnBatch]:
    sorting = Sorting(node, activation)
    for batch in resolve("sqlvec.exec.vector.pipeline:open_node")(node.input, activation):
        if batch.count:
            sorting.step(batch)
    yield from sorting.result()


def run_distinct(node: Distinct, activation: Activation) -> Iterator[ColumnBatch]:
    """The first row of each set of equal rows, in arrival order.

    Once the keys take too much memory no more are learnt: rows with other keys are sorted externally, and those that come first among equals are put
    back into arrival order."""
    collations = node.collations[:node.width]
    seen = KeySet(collations)
    names = [(column.source, column.number) for column in node.columns]
    keys = names[:node.width]
    budget = activation.context.settings.memory_budget
    late: LateDistinct | None = None
    for batch in resolve("sqlvec.exec.vector.pipeline:open_node")(node.input, activation):
        if not batch.count:
            continue
        known = seen.count
        vectors = [batch.column(name) for name in keys]
        if late is not None:
            unknown = np.flatnonzero(seen.find(vectors, batch.count) == 0)
            if len(unknown):
                late.add([batch.column(name).take(unknown) for name in names], len(unknown))
            continue
        ids = seen.add(vectors, batch.count)
        rows = first_rows(ids - 1, known, seen.count)
        if len(rows):
            yield batch.take(rows)
        if seen.bytes() > budget // 2:
            late = LateDistinct(names, keys, collations, activation.context.settings)
    if late is not None:
        del seen
        yield from late.rows()


__all__ = ["Sorting", "run_distinct", "run_sort"]
