"""UNION ALL, UNION, INTERSECT and EXCEPT.

The three set operations put rows into a :class:`KeySet` and leave sorted by all columns, as the temporary tree of the plan would: UNION keeps
the form of the row that came last among equals, INTERSECT and EXCEPT that of the left arm's last.

Where that takes more than the memory budget both arms are read anew and sorted together, on disk (runs.py): the sort is stable, so that each set of
equal rows holds those of the left arm first.
"""
from __future__ import annotations

from sqlvec.columnar.batch import ColumnBatch, of_vectors, renamed
from sqlvec.columnar.dictionary import KeySet
from sqlvec.columnar.numeric import np
from sqlvec.columnar.ordering import SortKey, sort_order
from sqlvec.columnar.vector import ColumnVector, concatenate, integers
from sqlvec.exec.vector.late_distinct import Adjacent
from sqlvec.exec.vector.runs import ExternalSort, Term, block_of, bytes_of
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.exec.program import Activation
    from sqlvec.plan.physical import Node, SetOperation, UnionAll

OUTPUT_ROWS = 8192


def _arm(arm: Node, columns: Any, activation: Activation) -> Iterator[ColumnBatch]:
    names = {(own.source, own.number): (column.source, column.number) for own, column in zip(columns, arm.columns, strict=True)}
    for batch in resolve("sqlvec.exec.vector.pipeline:open_node")(arm, activation):
        if batch.count:
            yield renamed(batch, names)


def run_union_all(node: UnionAll, activation: Activation) -> Iterator[ColumnBatch]:
    for arm in node.arms:
        yield from _arm(arm, node.columns, activation)


def run_set_operation(node: SetOperation, activation: Activation) -> Iterator[ColumnBatch]:
    names = [(column.source, column.number) for column in node.columns]
    keys = KeySet(node.collations)
    held: list[list[ColumnVector]] = []
    held_ids: list[Any] = []
    budget = activation.context.settings.memory_budget // 2
    size = 0
    for batch in _arm(node.left, node.columns, activation):
        vectors = [batch.column(name) for name in names]
        held_ids.append(keys.add(vectors, batch.count))
        held.append([vector.detached() for vector in vectors])
        size += 8 * batch.count + sum(map(bytes_of, held[-1]))
        if size + keys.bytes() > budget:
            del keys, held, held_ids, vectors, batch
            yield from sorted_operation(node, activation)
            return
    left_count = keys.count
    is_right = np.zeros(left_count + 1, bool)
    for batch in _arm(node.right, node.columns, activation):
        vectors = [batch.column(name) for name in names]
        if node.operator == "UNION":
            held_ids.append(keys.add(vectors, batch.count))
            held.append([vector.detached() for vector in vectors])
            size += 8 * batch.count + sum(map(bytes_of, held[-1]))
            if size + keys.bytes() > budget:
                del keys, held, held_ids, vectors, batch
                yield from sorted_operation(node, activation)
                return
        else:
            is_right[keys.find(vectors, batch.count)] = True
    if not held:
        return
    ids = np.concatenate(held_ids)
    count = keys.count
    chosen = np.zeros(count + 1, np.int64)
    positions = np.arange(len(ids), dtype=np.int64)
    chosen[ids] = positions                       # the last of equal rows
    if node.operator == "UNION":
        rows = chosen[1:]
    else:
        is_right[0] = False
        wanted = is_right[1:] if node.operator == "INTERSECT" else ~is_right[1:]
        rows = chosen[1:][wanted]
    vectors = [concatenate([block[number] for block in held]).take(rows) for number in range(len(names))]
    sort_keys = [SortKey(vector, False, None, collation) for vector, collation in zip(vectors, node.collations, strict=True)]
    order = sort_order(sort_keys, len(rows))
    batch = of_vectors(len(rows), dict(zip(names, vectors, strict=True)))
    for start in range(0, len(order), OUTPUT_ROWS):
        yield batch.take(order[start:start + OUTPUT_ROWS])


_ARM = ("arm", 0)


def sorted_operation(node: SetOperation, activation: Activation) -> Iterator[ColumnBatch]:
    """A set operation by sorting the rows of both arms: each set of equal rows is decided when its last row is known."""
    names: list[Any] = [(column.source, column.number) for column in node.columns]
    settings = activation.context.settings
    terms = [Term(name, collation=collation) for name, collation in zip(names, node.collations, strict=True)]
    rows = ExternalSort([*names, _ARM], terms, settings.memory_budget // 2, settings.temp_store_directory)
    for number, arm in enumerate((node.left, node.right)):
        for batch in _arm(arm, node.columns, activation):
            block = block_of(names, [batch.column(name) for name in names])
            block[_ARM] = integers(np.full(batch.count, number, np.int64))
            rows.add(block, batch.count)
    adjacent = Adjacent(names, node.collations)
    tail: dict[Any, ColumnVector] | None = None               # the rows of the last set so far that matter
    for block in rows.rows():
        new = adjacent.new(block)
        if tail is not None:
            new = np.concatenate([np.arange(tail[_ARM].count) == 0, new])
            block = {name: concatenate([vector, block[name]]) for name, vector in tail.items()}
        last = int(np.flatnonzero(new)[-1])
        if last:
            yield _decided(node.operator, names, block, new, last)
        arms = block[_ARM].flat().bits[last:]
        kept = _kept(node.operator, arms) + last               # of a set that goes on only these matter
        tail = {name: vector.take(kept).detached() for name, vector in block.items()}
    if tail is not None:
        count = tail[_ARM].count
        yield _decided(node.operator, names, tail, np.arange(count) == 0, count)


def _kept(operator: str, arms: Any) -> Any:
    """Of one set of equal rows: the last of the left arm and the last of the right arm; of a UNION the last of all."""
    count = len(arms)
    left = int(np.searchsorted(arms, 1))                      # rows of the left arm come first
    if operator == "UNION":
        return np.array([count - 1], np.int64)
    return np.array([place for place in (left - 1, count - 1 if left < count else -1) if place >= 0], np.int64)


def _decided(operator: str, names: list[Any], block: dict[Any, ColumnVector], new: Any, end: int) -> ColumnBatch:
    """The rows that whole sets (rows 0 .. end-1) give."""
    starts = np.flatnonzero(new[:end])
    ends = np.append(starts[1:], end)
    is_right = block[_ARM].flat().bits[:end]
    if operator == "UNION":
        chosen = ends - 1
    else:
        right = np.add.reduceat(is_right, starts)
        wanted = (right < ends - starts) & ((right > 0) if operator == "INTERSECT" else (right == 0))
        chosen = (ends - right - 1)[wanted]
    return of_vectors(len(chosen), {name: block[name].take(chosen) for name in names})
