"""Sub-queries in expressions: scalar, EXISTS, IN, and the right sides of IN terms of searches.

An evaluator is what generated code calls: ``evaluator(activation, outer_values)``.  An uncorrelated sub-query runs once per activation, at its first
use; its answer stays in the activation's slots (under the Subquery, so that all places that mention it share the answer).  A correlated one runs for each call.

Follows "SQL Language Expressions" of the manual.
"""
from __future__ import annotations

from sqlvec.exec.program import RowProgram, program_of
from sqlvec.expr.bound import Literal
from sqlvec.expr.emit import is_total
from sqlvec.expr.operations import InSet, compare_rows, numeric_operand
from sqlvec.plan import physical
from sqlvec.values.compare import hash_key
from sqlvec.values.storage import BLOB, TEXT, to_text_affinity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.exec.program import Activation
    from sqlvec.expr.bound import Subquery
    from sqlvec.values.compare import Collation


def row_evaluator(subquery: Subquery) -> Any:
    """The first row, or a row of NULLs."""
    plan = subquery.plan
    program = program_of(plan.input if has_limit_of_one(plan) else plan, subquery.outer, True)
    nulls = (None,) * max(1, len(subquery.plan.columns))
    is_correlated = bool(subquery.outer)

    def first_row(activation: Activation, outer: tuple[Any, ...]) -> tuple[Any, ...]:
        rows = program.rows(activation, outer)
        row: tuple[Any, ...] = next(iter(rows), nulls)
        close(rows)
        if not is_correlated:
            activation.slots[subquery] = row
        return row

    return first_row


def close(rows: Any) -> None:
    """End a generator early."""
    end = getattr(rows, "close", None)
    if end is not None:
        end()


def has_limit_of_one(node: Any) -> bool:
    """Is this a LIMIT by a positive constant, which says nothing to a reader of one row?"""
    return (isinstance(node, physical.Limit) and node.offset is None and isinstance(node.limit, Literal)
            and type(node.limit.value) is int and node.limit.value > 0)


def for_existence(node: Any) -> Any:
    """The part of a plan that decides whether there is a row: no projection, no order, and loops that hand out no columns."""
    while has_limit_of_one(node) or isinstance(node, (physical.Sort, physical.Distinct)):
        node = node.input
    if isinstance(node, physical.Project) and isinstance(node.input, physical.Join) and all(is_total(one) for one in node.expressions):
        join = physical.Join(node.input.levels, (), node.input.constants)
        join.rows = node.input.rows
        return join
    return node


def exists_evaluator(subquery: Subquery) -> Any:
    """1 when there is a row, else 0."""
    program = RowProgram(for_existence(subquery.plan), subquery.outer)
    is_correlated = bool(subquery.outer)
    key = (subquery, "exists")

    def exists(activation: Activation, outer: tuple[Any, ...]) -> int:
        if not is_correlated:
            known = activation.slots.get(key)
            if known is not None:
                return known  # type: ignore[no-any-return]
        rows = program.rows(activation, outer)
        found = 0
        for _ in rows:
            found = 1
            break
        close(rows)
        if not is_correlated:
            activation.slots[key] = found
        return found

    return exists


def rows_evaluator(subquery: Subquery) -> Any:
    """All rows as a list."""
    program = program_of(subquery.plan, subquery.outer)
    is_correlated = bool(subquery.outer)
    key = (subquery, "rows")

    def all_rows(activation: Activation, outer: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        if is_correlated:
            return list(program.rows(activation, outer))
        rows: Any = activation.slots.get(key)
        if rows is None:
            rows = activation.slots[key] = list(program.rows(activation, outer))
        return rows  # type: ignore[no-any-return]

    return all_rows


def convert(value: Any, affinity: Any) -> Any:
    """A right-hand value after the affinity of the comparison."""
    if affinity is None or affinity == BLOB:
        return value
    return to_text_affinity(value) if affinity == TEXT else numeric_operand(value)


class RowSet:
    """The rows of a row-value IN: ``keys`` of rows without NULL; ``partial`` rows with some."""

    __slots__ = ("is_empty", "keys", "partial")

    def __init__(self, rows: list[tuple[Any, ...]], collations: tuple[Collation, ...]) -> None:
        self.keys = set()
        self.partial = []
        self.is_empty = not rows
        for row in rows:
            if None in row:
                self.partial.append(row)
            else:
                self.keys.add(tuple([hash_key(value, collation) for value, collation in zip(row, collations, strict=True)]))

    def contains(self, values: tuple[Any, ...], rows: list[tuple[Any, ...]], collations: tuple[Collation, ...]) -> bool | None:
        """Three-valued membership."""
        if self.is_empty:
            return False
        if None not in values:
            if tuple([hash_key(value, collation) for value, collation in zip(values, collations, strict=True)]) in self.keys:
                return True
            rows = self.partial
        for row in rows:
            if compare_rows("=", tuple(zip(values, row, collations, strict=True))) is None:
                return None
        return False


class InEvaluator:
    """``evaluator(activation, outer, values)``: are the values (affinity applied) among the rows?  True, False or None."""

    __slots__ = ("applied", "collations", "is_correlated", "program", "subquery")

    def __init__(self, subquery: Subquery, applied: tuple[Any, ...], collations: tuple[Collation, ...]) -> None:
        self.subquery = subquery
        self.applied = applied
        self.collations = collations
        self.program = program_of(subquery.plan, subquery.outer)
        self.is_correlated = bool(subquery.outer)

    def build(self, activation: Activation, outer: tuple[Any, ...]) -> Any:
        """The set of one run of the sub-query: an InSet, or (rows, RowSet) for row values."""
        applied, collations = self.applied, self.collations
        if len(collations) == 1:
            affinity, collation = applied[0], collations[0]
            values = set()
            has_null = False
            is_empty = True
            for row in self.program.rows(activation, outer):
                is_empty = False
                value = row[0]
                if value is None:
                    has_null = True
                else:
                    values.add(hash_key(convert(value, affinity), collation))
            made: Any = InSet(values, has_null, is_empty, collation)
        else:
            rows = [
                tuple([convert(value, affinity) for value, affinity in zip(row, applied, strict=True)])
                for row in self.program.rows(activation, outer)
            ]
            made = (rows, RowSet(rows, collations))
        if not self.is_correlated:
            activation.slots[self] = made
        return made

    def __call__(self, activation: Activation, outer: tuple[Any, ...], values: tuple[Any, ...]) -> bool | None:
        made = None if self.is_correlated else activation.slots.get(self)
        if len(values) == 1:
            if made is None and self.is_correlated:
                return self._search(activation, outer, values[0])
            if made is None:
                made = self.build(activation, outer)
            return made.contains(values[0])  # type: ignore[no-any-return]
        if made is None:
            made = self.build(activation, outer)
        rows, row_set = made
        return row_set.contains(values, rows, self.collations)  # type: ignore[no-any-return]

    def _search(self, activation: Activation, outer: tuple[Any, ...], value: Any) -> bool | None:
        """A correlated sub-query is read until the value turns up."""
        affinity, collation = self.applied[0], self.collations[0]
        key = hash_key(value, collation)
        rows = self.program.rows(activation, outer)
        state: bool | None = False
        for row in rows:
            candidate = row[0]
            if candidate is None or value is None:
                state = None
                if value is None:
                    break
            elif hash_key(convert(candidate, affinity), collation) == key:
                state = True
                break
        close(rows)
        return state


def in_evaluator(subquery: Subquery, applied: tuple[Any, ...], collations: tuple[Collation, ...]) -> InEvaluator:
    """The evaluator of one IN."""
    return InEvaluator(subquery, applied, collations)
