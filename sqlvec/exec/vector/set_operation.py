"""UNION ALL, UNION, INTERSECT and EXCEPT.

The three set operations put rows into a :class:`KeySet` and leave sorted by all columns, as the temporary tree of the plan would: UNION keeps
the form of the row that came last among equals, INTERSECT and EXCEPT that of the left arm's last.
"""
from __future__ import annotations

from sqlvec.columnar.batch import ColumnBatch, of_vectors, renamed
from sqlvec.columnar.dictionary import KeySet
from sqlvec.columnar.numeric import np
from sqlvec.columnar.ordering import SortKey, sort_order
from sqlvec.columnar.vector import ColumnVector, concatenate
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
    for batch in _arm(node.left, node.columns, activation):
        vectors = [batch.column(name) for name in names]
        held_ids.append(keys.add(vectors, batch.count))
        held.append([vector.detached() for vector in vectors])
    left_count = keys.count
    is_right = np.zeros(left_count + 1, bool)
    for batch in _arm(node.right, node.columns, activation):
        vectors = [batch.column(name) for name in names]
        if node.operator == "UNION":
            held_ids.append(keys.add(vectors, batch.count))
            held.append([vector.detached() for vector in vectors])
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
