"""VALUES, UNION ALL, and the set operations in their two forms: through a temporary tree, and by merging sorted arms.

Which form of equal values is delivered (1 or 1.0, 'a' or 'A' under NOCASE) follows the real one: a later insertion into the temporary tree replaces the
stored row; a merge takes the right row for UNION and the left one for INTERSECT.

Follows "SELECT" (compound select statements) of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.exec.row.ephemeral import SortTerm, hash_function, order
from sqlvec.exec.row.sort import KeyMaker
from sqlvec.exec.row.subquery import close
from sqlvec.plan import physical
from sqlvec.values.compare import compare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.exec.operators import Compiler


def open_values(node: physical.Values, compiler: Compiler) -> Any:
    """Compile VALUES: each row is a function; rows of literals are constants."""
    makers = [compiler.function(row, ()) for row in node.tuples]

    def value_rows(activation: Any, outer: Any) -> Iterator[tuple[Any, ...]]:
        for maker in makers:
            yield maker.bind(activation)((), outer)

    return value_rows


def open_union_all(node: physical.UnionAll, compiler: Compiler) -> Any:
    """Compile UNION ALL: the arms one after the other."""
    arms = [compiler.operator(arm) for arm in node.arms]

    def all_rows(activation: Any, outer: Any) -> Iterator[tuple[Any, ...]]:
        for arm in arms:
            yield from arm(activation, outer)

    return all_rows


def _collations(names: tuple[str, ...], compiler: Compiler) -> tuple[Any, ...]:
    found = []
    for name in names:
        collation = compiler.collations.lookup(name)
        if collation is None:
            raise errors.no_such_collation(name)
        found.append(collation)
    return tuple(found)


def open_set_operation(node: physical.SetOperation, compiler: Compiler) -> Any:
    """Compile UNION, INTERSECT or EXCEPT through a temporary tree: sorted output.  A chain of them is one loop over its right arms."""
    width = len(node.columns)
    collations = _collations(node.collations, compiler)[:width]
    chain: list[tuple[str, Any]] = []
    first: Any = node
    while isinstance(first, physical.SetOperation) and _collations(first.collations, compiler)[:width] == collations:
        chain.append((first.operator, compiler.operator(first.right)))
        first = first.left
    chain.reverse()
    left = compiler.operator(first)
    key_of = hash_function(None, collations)
    terms = [SortTerm(place, collation, False, None) for place, collation in enumerate(collations)]

    def rows(activation: Any, outer: Any) -> Iterator[tuple[Any, ...]]:
        table: dict[Any, tuple[Any, ...]] = {}
        for row in left(activation, outer):
            table[key_of(row)] = row
        for operator, right in chain:
            if operator == "UNION":
                for row in right(activation, outer):
                    table[key_of(row)] = row
            elif operator == "EXCEPT":
                for row in right(activation, outer):
                    table.pop(key_of(row), None)
            else:
                kept = {key_of(row) for row in right(activation, outer)}
                table = {key: row for key, row in table.items() if key in kept}
        gathered = list(table.values())
        yield from order(gathered, gathered, terms)

    return rows


class MergeOrder:
    """Compares rows of two sorted arms by the sort terms."""

    __slots__ = ("terms",)

    def __init__(self, terms: list[SortTerm]) -> None:
        self.terms = terms

    def compare(self, left: tuple[Any, ...], right: tuple[Any, ...]) -> int:
        for term in self.terms:
            first, second = left[term.place], right[term.place]
            if first is None or second is None:
                if first is second:
                    continue
                result = -1 if (first is None) is not term.null_is_greatest else 1
            else:
                result = compare(first, second, term.collation)
            if result:
                return -result if term.descending else result
        return 0


def open_merge(node: physical.MergeSetOperation, compiler: Compiler) -> Any:
    """Compile a compound with ORDER BY: both arms arrive sorted."""
    left, right = compiler.operator(node.left), compiler.operator(node.right)
    keys = KeyMaker(node.keys, node.columns, compiler)
    assert keys.maker is None, "merge keys are result columns"
    compare_rows = MergeOrder(keys.terms).compare
    operator = node.operator
    key_of = hash_function(None, _collations(node.collations, compiler)[: len(node.columns)])
    step = {"UNION ALL": _merge_all, "UNION": _merge_union, "INTERSECT": _merge_intersect, "EXCEPT": _merge_except}[operator]

    def rows(activation: Any, outer: Any) -> Iterator[tuple[Any, ...]]:
        first, second = left(activation, outer), right(activation, outer)
        merged = step(first, second, compare_rows)
        if operator == "UNION ALL":
            yield from merged
            return
        last: Any = None
        for row in merged:
            key = key_of(row)
            if last is not None and key == last[0]:
                continue
            last = (key,)
            yield row
        close(first)
        close(second)

    return rows


def _merge_all(left: Any, right: Any, compare_rows: Any) -> Iterator[tuple[Any, ...]]:
    """UNION ALL: on equal keys the left row first."""
    a, b = next(left, None), next(right, None)
    while a is not None and b is not None:
        if compare_rows(a, b) <= 0:
            yield a
            a = next(left, None)
        else:
            yield b
            b = next(right, None)
    if a is not None:
        yield a
        yield from left
    if b is not None:
        yield b
        yield from right


def _merge_union(left: Any, right: Any, compare_rows: Any) -> Iterator[tuple[Any, ...]]:
    """UNION: on equal keys the right row."""
    a, b = next(left, None), next(right, None)
    while a is not None and b is not None:
        state = compare_rows(a, b)
        if state < 0:
            yield a
            a = next(left, None)
        elif state == 0:
            a = next(left, None)
        else:
            yield b
            b = next(right, None)
    if a is not None:
        yield a
        yield from left
    if b is not None:
        yield b
        yield from right


def _merge_intersect(left: Any, right: Any, compare_rows: Any) -> Iterator[tuple[Any, ...]]:
    """INTERSECT: rows in both, the left form."""
    a = next(left, None)
    b = next(right, None) if a is not None else None
    while a is not None and b is not None:
        state = compare_rows(a, b)
        if state < 0:
            a = next(left, None)
        elif state == 0:
            yield a
            a = next(left, None)
        else:
            b = next(right, None)


def _merge_except(left: Any, right: Any, compare_rows: Any) -> Iterator[tuple[Any, ...]]:
    """EXCEPT: left rows without an equal right one."""
    a = next(left, None)
    b = next(right, None) if a is not None else None
    while a is not None and b is not None:
        state = compare_rows(a, b)
        if state < 0:
            yield a
            a = next(left, None)
        elif state == 0:
            a = next(left, None)
        else:
            b = next(right, None)
    if a is not None:
        yield a
        yield from left
