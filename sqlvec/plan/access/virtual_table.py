"""Candidates of virtual tables: the module is asked what sets of constraints would cost.

First all constraints count as usable; if the module uses some that need other tables, it is asked again with those of each smaller set of tables, and at
last with those that need none.  Arguments of a table-valued function are equalities on its hidden columns.

IN terms aren't offered: they are checked on the rows.

Follows "The Virtual Table Mechanism Of SQLite", xBestIndex, of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import Call, Column, Compare, IsNull, without_fixed_columns
from sqlvec.plan import physical
from sqlvec.plan.access.candidates import ONE_ROW, VIRTUAL_TABLE, Candidates, Loop, fits_outer_join
from sqlvec.plan.access.terms import EQUAL, LOWER, NULL, OPERATOR, UPPER, Term, strip
from sqlvec.schema.objects import log_estimate
from sqlvec.vtab.api import Constraint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.expr.bound import Expression
    from sqlvec.plan.access.paths import PathBuilder
    from sqlvec.plan.logical import FromItem

_NAMES = {bit: name for name, bit in OPERATOR.items()}


class Offer:
    """A constraint that can be offered: ``term`` it comes from (None: an argument of a table-valued function), the value's expression."""

    __slots__ = ("column", "needs", "operator", "term", "value")

    def __init__(self, column: int, operator: str, value: Expression | None, needs: int, term: Term | None) -> None:
        self.column = column
        self.operator = operator
        self.value = value
        self.needs = needs
        self.term = term


class Chosen:
    """What a module answered: its Choice, the offers it was asked about, and whether it delivers the wanted order."""

    __slots__ = ("choice", "offers", "ordered")

    def __init__(self, choice: Any, offers: list[Offer], ordered: bool) -> None:
        self.choice = choice
        self.offers = offers
        self.ordered = ordered


def add_virtual(candidates: Candidates, position: int, prereq: int) -> None:
    """Add the candidates of the virtual table at ``position``."""
    item = candidates.scope.items[position]
    connect = candidates.request.virtual_table
    assert connect is not None
    table = connect(item)
    offers = _offers(candidates, item, position)
    asked = set()
    masks = sorted({offer.needs & ~prereq for offer in offers})
    everything = 0
    for mask in masks:
        everything |= mask
    best = _ask(candidates, position, prereq, table, offers, everything)
    asked.add(everything)
    if best is None or best & ~prereq:
        for mask in [*masks, 0]:
            if mask not in asked:
                asked.add(mask)
                _ask(candidates, position, prereq, table, offers, mask)


def _ask(candidates: Candidates, position: int, prereq: int, table: Any, offers: list[Offer], usable: int) -> int | None:
    """Ask the module with the constraints that need nothing but ``usable``; returns what the answer needs, None for no answer."""
    item = candidates.scope.items[position]
    constraints = [Constraint(offer.column, offer.operator, not offer.needs & ~(usable | prereq)) for offer in offers]
    order = _wanted_order(candidates, item)
    choice = table.best_index(constraints, order, frozenset(item.used))
    if choice is None:
        return None
    loop = Loop(position)
    loop.flags = VIRTUAL_TABLE | (ONE_ROW if choice.unique else 0)
    loop.prereq = prereq
    for number in choice.arguments:
        loop.prereq |= offers[number].needs
    loop.prereq &= ~loop.bit
    loop.run = _log_of_cost(choice.cost)
    loop.rows = log_estimate(int(choice.rows))
    loop.choice = Chosen(choice, offers, bool(order) and choice.order_consumed)
    loop.terms = [offers[number].term for number in choice.arguments]
    candidates.insert(loop)
    return loop.prereq


def _log_of_cost(cost: float) -> int:
    """LogEst of a floating point cost."""
    if cost <= 1:
        return 0
    if cost <= 2000000000:
        return log_estimate(int(cost))
    exponent = 0
    while cost >= 2 and exponent < 2000:
        cost /= 2
        exponent += 1
    return (exponent + 1) * 10


def _wanted_order(candidates: Candidates, item: FromItem) -> list[tuple[int, bool]]:
    """The wanted order, if it is over columns of this table alone."""
    found = []
    for term in candidates.order:
        at = candidates.scope.column_of(term.expression)
        if at is None or at[0] != item.source or term.nulls_last is not None:
            return []
        found.append((at[1], term.descending))
    return found


def _offers(candidates: Candidates, item: FromItem, position: int) -> list[Offer]:
    scope = candidates.scope
    bit = 1 << position
    offers = []
    for number, argument in zip(_hidden(item), item.arguments or (), strict=False):
        needs = scope.mask(argument)
        if needs & bit:
            continue                            # reads the table itself: no loop can have its value before
        if item.left:
            needs |= bit - 1
        offers.append(Offer(number, "=", argument, needs & ~bit, None))
    for term in candidates.clause.terms:
        if not fits_outer_join(term, item):
            continue
        if term.source == item.source and not term.like and not term.right_needs & bit:
            offer = _comparison(term)
            if offer is not None:
                offers.append(offer)
        elif not term.virtual:
            offers.extend(_special(candidates, term, item, bit))
    return offers


def _hidden(item: FromItem) -> list[int]:
    assert item.table is not None
    return [number for number, column in enumerate(item.table.columns) if column.hidden]


def _comparison(term: Term) -> Offer | None:
    if term.not_null:
        return Offer(term.column, "IS NOT NULL", None, 0, term)
    if term.operator == NULL:
        return Offer(term.column, "IS NULL", None, 0, term)
    if term.operator & (EQUAL | LOWER | UPPER) and term.right is not None:
        return Offer(term.column, _NAMES[term.operator], term.right, term.right_needs, term)
    return None


def _special(candidates: Candidates, term: Term, item: FromItem, bit: int) -> list[Offer]:
    """MATCH, LIKE, GLOB, REGEXP, <> and IS NOT on columns of the table."""
    scope = candidates.scope
    expression = term.expression
    pairs: list[tuple[str, Expression, Expression | None]] = []
    if isinstance(expression, Call) and expression.operator in ("MATCH", "LIKE", "GLOB", "REGEXP") and len(expression.arguments) == 2:
        pairs.append((expression.operator, expression.arguments[1], expression.arguments[0]))
    elif isinstance(expression, Compare) and expression.operator in ("<>", "IS NOT"):
        pairs.append((expression.operator, expression.left, expression.right))
        pairs.append((expression.operator, expression.right, expression.left))
    elif isinstance(expression, IsNull) and expression.negated:
        pairs.append(("IS NOT NULL", expression.operand, None))
    found = []
    for operator, left, right in pairs:
        inner = strip(left)
        if isinstance(inner, Column) and inner.source == item.source and not scope.mask(right) & bit:
            needs = scope.mask(right)
            if term.outer_on is not None:
                needs |= bit - 1
            found.append(Offer(scope.normal(inner), operator, right, needs, term))
    return found


def build_path(builder: PathBuilder, loop: Loop, item: FromItem) -> physical.Path:
    """The VtabScan of a chosen loop."""
    chosen: Chosen = loop.choice
    choice = chosen.choice
    values: list[Expression] = []
    for number in choice.arguments:
        offer = chosen.offers[number]
        values.append(offer.value if offer.value is None else without_fixed_columns(offer.value))  # type: ignore[arg-type]
        if number in choice.omit and offer.term is not None and not item.left:
            builder.enforced_whole(offer.term if not offer.term.virtual or offer.term.parent is None else offer.term.parent, item)
    assert item.table is not None
    return physical.VtabScan(item.source, item.label, item.table, choice, tuple(values))
