"""Sort, Distinct and Limit.

Sort is stable in arrival order.  With ``limit`` it keeps the best rows only: rows are gathered, and whenever four times the limit have come they are sorted
and cut, so memory stays bounded and earlier rows win ties.  With ``presorted`` leading keys the input arrives in blocks of equal leading keys, and each
block is sorted and delivered on its own.

Follows "SELECT" of the manual (ORDER BY, LIMIT, DISTINCT).
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.exec.row.ephemeral import SortTerm, hash_function, order
from sqlvec.exec.row.subquery import close
from sqlvec.expr import bound
from sqlvec.expr.operations import numeric_operand
from sqlvec.plan import physical
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.exec.operators import Compiler
    from sqlvec.expr.bound import Column, OrderTerm

TOP_N_BUFFER = 4096
LATE_LIMIT = 1000


class KeyMaker:
    """Makes key rows for sorting: the rows themselves when all terms are columns of theirs, otherwise computed ones."""

    __slots__ = ("maker", "terms")

    def __init__(self, terms: tuple[OrderTerm, ...], layout: tuple[Column, ...], compiler: Compiler) -> None:
        places = {(column.source, column.number): place for place, column in reversed(tuple(enumerate(layout)))}
        found = []
        for term in terms:
            expression = term.expression
            found.append(places.get((expression.source, expression.number)) if isinstance(expression, bound.Column) else None)
        self.maker: Any = None
        if None in found:
            self.maker = compiler.function(tuple(term.expression for term in terms), layout)
            found = list(range(len(terms)))
        self.terms = []
        for place, term in zip(found, terms, strict=True):
            collation = compiler.collations.lookup(term.collation)
            if collation is None:
                raise errors.no_such_collation(term.collation)
            self.terms.append(SortTerm(place, collation, term.descending, term.nulls_last))  # type: ignore[arg-type]

    def bind(self, activation: Any, outer: Any) -> Any:
        """A function rows -> key rows."""
        if self.maker is None:
            return lambda rows: rows
        function = self.maker.bind(activation)
        return lambda rows: [function(row, outer) for row in rows]


def must_be_integer(value: Any) -> int:
    """LIMIT and OFFSET: an integer, or something that is one without loss."""
    if type(value) is int:
        return value
    number = numeric_operand(value)
    if type(number) is int:
        return number
    if type(number) is float and -9223372036854775808.0 <= number < 9223372036854775808.0 and number == int(number):
        return int(number)
    raise errors.datatype_mismatch()


def limit_function(limit: Any, offset: Any, compiler: Compiler) -> Any:
    """``(activation, outer) -> (limit or None, offset)``."""
    if isinstance(limit, bound.Literal) and offset is None and type(limit.value) is int:
        fixed = (limit.value if limit.value >= 0 else None, 0)
        return lambda activation, outer: fixed
    maker = compiler.function(tuple(expression for expression in (limit, offset) if expression is not None), ())

    def evaluate(activation: Any, outer: Any) -> tuple[int | None, int]:
        values = maker.bind(activation)((), outer)
        count = must_be_integer(values[0]) if limit is not None else -1
        skip = must_be_integer(values[-1]) if offset is not None else 0
        return (count if count >= 0 else None), max(skip, 0)

    return evaluate


def as_sorter_keeps(rows: Any, places: tuple[int, ...]) -> Iterator[tuple[Any, ...]]:
    """Rows with integral reals in ``places`` as integers."""
    for row in rows:
        changed = list(row)
        for place in places:
            value = row[place]
            if type(value) is float and -_EXACT < value < _EXACT and value == int(value):
                changed[place] = int(value)
        yield tuple(changed)


_EXACT = float(1 << 47)


def open_sort(node: physical.Sort, compiler: Compiler) -> Any:
    """Compile a Sort."""
    source = compiler.operator(node.input)
    places = physical.computed_reals(node.input) if isinstance(node.input, physical.Project) and not node.for_window else ()
    keys = KeyMaker(node.keys, node.input.columns, compiler)
    bounds = limit_function(node.limit, node.offset, compiler) if node.limit is not None else None
    presorted = node.presorted
    terms = keys.terms
    late = None
    if bounds is not None and not places:
        key_places = None if keys.maker is not None else [term.place for term in terms]
        late = resolve("sqlvec.exec.row.late_rows:late_rows")(node, key_places, compiler)
    late_terms = [SortTerm.at(term, number) for number, term in enumerate(terms)]

    def sorted_rows(activation: Any, outer: Any) -> Iterator[tuple[Any, ...]]:
        make = keys.bind(activation, outer)
        wanted = None
        if bounds is not None:
            limit, skip = bounds(activation, outer)
            wanted = None if limit is None else limit + skip
        if late is not None and wanted is not None and wanted <= LATE_LIMIT and late.is_worthwhile(activation):
            return late.rows(activation, outer, _top, late_terms, wanted)
        rows = source(activation, outer)
        if places:
            rows = as_sorter_keeps(rows, places)
        if 0 < presorted < len(terms):
            return _blocks(rows, make, terms, presorted)
        if wanted is not None:
            return _top(rows, make, terms, wanted)
        return _all(rows, make, terms)

    return sorted_rows


def _all(rows: Any, make: Any, terms: list[SortTerm]) -> Iterator[tuple[Any, ...]]:
    gathered = list(rows)
    yield from order(gathered, make(gathered), terms)


def _top(rows: Any, make: Any, terms: list[SortTerm], wanted: int) -> Iterator[tuple[Any, ...]]:
    """The first ``wanted`` rows of the order."""
    if wanted <= 0:
        close(rows)
        return
    best: list[Any] = []
    bound_ = max(4 * wanted, TOP_N_BUFFER)
    for row in rows:
        best.append(row)
        if len(best) >= bound_:
            best = order(best, make(best), terms)[:wanted]
    yield from order(best, make(best), terms)[:wanted]


def _blocks(rows: Any, make: Any, terms: list[SortTerm], presorted: int) -> Iterator[tuple[Any, ...]]:
    """Rows come sorted by the first terms: sort within each block of equal ones."""
    leading = terms[:presorted]
    prefix = hash_function(tuple(term.place for term in leading), tuple(term.collation for term in leading))
    rest = terms[presorted:]
    block: list[Any] = []
    current: Any = None
    for row in rows:
        key = prefix(make([row])[0])
        if block and key != current:
            yield from order(block, make(block), rest)
            block = []
        current = key
        block.append(row)
    yield from order(block, make(block), rest)


def open_distinct(node: physical.Distinct, compiler: Compiler) -> Any:
    """Compile a Distinct."""
    source = compiler.operator(node.input)
    collations = tuple(compiler.collations.lookup(name) for name in node.collations)
    if None in collations:
        raise errors.no_such_collation(node.collations[collations.index(None)])
    key_of = hash_function(tuple(range(node.width)), collations[: node.width])  # type: ignore[arg-type]
    is_ordered = node.ordered

    def distinct_rows(activation: Any, outer: Any) -> Iterator[tuple[Any, ...]]:
        rows = source(activation, outer)
        if is_ordered:
            last: Any = _NOTHING
            for row in rows:
                key = key_of(row)
                if key != last:
                    last = key
                    yield row
            return
        seen = set()  # type: ignore[var-annotated]
        add = seen.add
        for row in rows:
            key = key_of(row)
            if key not in seen:
                add(key)
                yield row

    return distinct_rows


_NOTHING = object()


def open_limit(node: physical.Limit, compiler: Compiler) -> Any:
    """Compile a Limit."""
    source = compiler.operator(node.input)
    bounds = limit_function(node.limit, node.offset, compiler)

    def limited_rows(activation: Any, outer: Any) -> Iterator[tuple[Any, ...]]:
        left, skip = bounds(activation, outer)
        if left == 0:
            return
        rows = source(activation, outer)
        for row in rows:
            if skip:
                skip -= 1
                continue
            yield row
            if left is not None:
                left -= 1
                if left == 0:
                    break
        close(rows)

    return limited_rows
