"""How the vector engine says no while it runs: positions, and the whole plan.

*Declining positions*: a kernel that doesn't know some rows of a batch hands them to the row callable, the compiled form of the same bound
expression that the row engine runs; results are put back in place.  Where an expression reads a single column of few distinct values, the
row callable runs once per distinct value instead (the dictionary lift).

*Restart*: whatever would raise (an SQL error, a damaged page, a kernel's own bug) ends the vector plan.  The bridge then runs the same
physical plan on the row engine and drops the rows that were already delivered; the row engine raises the error that the user sees, if there
is one.  So exceptions of any kind may leave the vector engine, and :class:`Restart` is the polite one.
"""
from __future__ import annotations

from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import ColumnVector, from_values
from sqlvec.expr.compile import compile_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.columnar.batch import ColumnBatch
    from sqlvec.exec.program import Activation
    from sqlvec.expr.bound import Column, Expression


class Restart(Exception):
    """The vector engine can't go on: run this plan on the row engine."""


class RowCallable:
    """A bound expression as the compiled function of its own columns, run position by position."""

    __slots__ = ("columns", "function", "keys")

    def __init__(self, expression: Expression, columns: tuple[Column, ...], activation: Activation) -> None:
        self.columns = columns
        self.keys = [(column.source, column.number) for column in columns]
        self.function = compile_value(expression, columns, activation)

    def over(self, batch: ColumnBatch, rows: Any = None) -> ColumnVector:
        """The values for all rows of the batch, or for those at ``rows``."""
        vectors = [batch.column(key) for key in self.keys]
        if rows is not None:
            vectors = [vector.take(rows) for vector in vectors]
        return self.over_vectors(vectors, batch.count if rows is None else len(rows))

    def over_vectors(self, vectors: list[ColumnVector], count: int) -> ColumnVector:
        function = self.function
        if not vectors:
            return from_values([function(()) for _ in range(count)])
        if len(vectors) == 1:
            return from_values([function((value,)) for value in vectors[0].values()])
        return from_values([function(row) for row in zip(*[vector.values() for vector in vectors], strict=True)])


def patched(vector: ColumnVector, rows: Any, part: ColumnVector) -> ColumnVector:
    """``vector`` (numbers) with the values at ``rows`` replaced by those of ``part`` (numbers or NULL)."""
    bits = vector.flat().bits.copy()
    tags = vector.tag_array().copy()
    bits[rows] = part.flat().bits
    tags[rows] = part.tags
    return ColumnVector(vector.count, tags, bits).settled()


def all_rows(count: int) -> Any:
    return np.arange(count, dtype=np.int64)
