"""Do nested loops deliver rows in a wanted order?

Loops are walked from the outermost in.  As long as all loops so far are *distinct in order* (no two rows of theirs agree in the columns that have been
matched), the next loop may satisfy further terms.  Result: the number of leading terms that are satisfied, or -1 while nothing can be said yet,
because loops to come may still satisfy the rest.

Modes: ORDER (terms in order, directions matter), GROUP and DISTINCT (any term may match next; GROUP ignores directions), MIN and MAX
(as ORDER, but an IN term that the loop uses pins its column), INNER (only the last loop is looked at, outer ones are taken as fixed).

Follows "The SQLite Query Optimizer Overview" of the manual, section "ORDER BY".
"""
from __future__ import annotations

from sqlvec.plan.access.candidates import BIG_NULL, BY_ROWID, ONE_ROW, SKIP_SCAN, VIRTUAL_TABLE, Loop
from sqlvec.plan.access.terms import EQUAL, EXPRESSION, IN, IS, NULL, ROWID, Clause, is_constant, strip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.expr.bound import OrderTerm

ORDER, GROUP, DISTINCT, MIN, MAX, INNER = 0, 1, 2, 4, 8, 16


class Order:
    """The wanted order, prepared for repeated questions."""

    __slots__ = ("clause", "columns", "constant", "keys", "masks", "scope", "terms")

    def __init__(self, clause: Clause, terms: tuple[OrderTerm, ...]) -> None:
        self.clause = clause
        self.scope = clause.scope
        self.terms = terms
        self.columns = [self.scope.column_of(term.expression) for term in terms]
        self.keys = [None if at is not None else strip(term.expression).key() for at, term in zip(self.columns, terms, strict=True)]
        self.masks = [self.scope.mask(term.expression) for term in terms]
        self.constant = [mask == 0 and is_constant(term.expression) for mask, term in zip(self.masks, terms, strict=True)]


def is_big_null(term: OrderTerm) -> bool:
    """NULLs wanted at the other end than their natural one."""
    return term.nulls_last is not None and term.nulls_last != term.descending


def satisfied(order: Order, loops: tuple[Loop, ...], mode: int) -> tuple[int, int]:
    """(number of satisfied terms or -1, bit set of the loops to run backwards).  A loop found to need the two-pass NULL scan is flagged BIG_NULL."""
    count = len(order.terms)
    if count > 63:
        return 0, 0
    done = (1 << count) - 1
    found = 0
    reverse = 0
    distinct_mask = 0
    ready = 0
    is_distinct = True
    pins = EQUAL | NULL | (IN if mode & (INNER | MIN | MAX) else 0)
    for depth, loop in enumerate(loops):
        if not is_distinct or found == done:
            break
        if depth:
            ready |= loops[depth - 1].bit
        if mode & INNER and depth < len(loops) - 1:
            continue
        if loop.flags & VIRTUAL_TABLE:
            if loop.choice is not None and getattr(loop.choice, "ordered", False):
                found = done
            break
        found |= _pinned(order, loop, ready, pins, found)
        if not loop.flags & ONE_ROW:
            if not loop.flags & BY_ROWID and (loop.index is None or loop.index.is_unordered):
                return 0, 0
            found, is_distinct, backwards = _walk_columns(order, loop, mode, pins, found, is_distinct)
            if backwards:
                reverse |= 1 << depth
        if is_distinct:
            distinct_mask |= loop.bit
            for number in range(count):
                mask = order.masks[number]
                if not found >> number & 1 and not mask & ~distinct_mask and (mask or order.constant[number]):
                    found |= 1 << number
    if found == done:
        return count, reverse
    if not is_distinct:
        prefix = 0
        while found >> prefix & 1:
            prefix += 1
        return prefix, reverse
    return -1, reverse


def _pinned(order: Order, loop: Loop, ready: int, pins: int, found: int) -> int:
    """Terms over columns of this loop that are pinned to one value by equalities with outer loops or constants."""
    source = order.scope.items[loop.position].source
    result = 0
    for number, at in enumerate(order.columns):
        if found >> number & 1 or at is None or at[0] != source:
            continue
        term = order.clause.find_best(source, at[1], ~ready, pins)
        if term is None:
            continue
        if term.operator & IN and not any(used is term for used in loop.terms):
            continue
        if term.operator & EQUAL and at[1] >= 0 and term.using.upper() != order.terms[number].collation.upper():
            continue
        result |= 1 << number
    return result


def _walk_columns(order: Order, loop: Loop, mode: int, pins: int, found: int, is_distinct: bool) -> tuple[int, bool, bool]:
    """Match the columns of the loop's index one after the other: (found terms, is the loop distinct in order, is it to run backwards)."""
    index = loop.index
    item = order.scope.items[loop.position]
    table = item.table
    key_count = width = 0
    if index is None:
        width = 1
    else:
        key_count, width = index.key_count, len(index.columns)
        is_distinct = index.unique and not loop.flags & SKIP_SCAN
    backwards = direction_known = reached_rowid = False
    for at in range(width):
        may_match = True
        if loop.skip <= at < loop.equal:
            term = loop.terms[at]
            assert term is not None
            if term.operator & pins:
                if term.operator & (NULL | IS):
                    is_distinct = False
                continue
            if term.operator & IN and any(loop.terms[later] is not None and loop.terms[later].expression is term.expression  # type: ignore[union-attr]
                                          for later in range(at + 1, loop.equal)):
                may_match = False
        if index is None:
            column, descending = ROWID, False
        else:
            column, descending = index.columns[at].column, index.columns[at].descending
            if table is not None and column == table.rowid_column:
                column = ROWID
        if is_distinct and ((column >= 0 and at >= loop.equal and not _never_null(table, column)) or column == EXPRESSION):
            is_distinct = False
        number = _match(order, loop, at, column, mode, found) if may_match else -1
        if number >= 0 and not mode & GROUP:
            wanted = order.terms[number].descending and not mode & DISTINCT
            if direction_known:
                if (backwards != descending) != wanted:
                    number = -1
            else:
                backwards = descending != wanted
                direction_known = True
        if number >= 0 and is_big_null(order.terms[number]):
            if at == loop.equal:
                loop.flags |= BIG_NULL
            else:
                number = -1
        if number < 0:
            if at == 0 or at < key_count:
                is_distinct = False
            break
        if column == ROWID:
            reached_rowid = True
        found |= 1 << number
    return found, is_distinct or reached_rowid, backwards


def _never_null(table: object, column: int) -> bool:
    return table is not None and (table.columns[column].not_null is not None  # type: ignore[attr-defined]
                                  or (table.without_rowid and column in table.primary_key))  # type: ignore[attr-defined]


def _match(order: Order, loop: Loop, at: int, column: int, mode: int, found: int) -> int:
    """The number of the term that the column matches, or -1."""
    scope = order.scope
    item = scope.items[loop.position]
    key = None
    if column == EXPRESSION:
        assert loop.index is not None
        expression = scope.index_expressions(item, loop.index)[at]
        key = expression.key() if expression is not None else None
    for number, wanted in enumerate(order.columns):
        if found >> number & 1:
            continue
        if (wanted == (item.source, column)) if key is None else (order.keys[number] == key):
            if column == ROWID or loop.index is None or order.terms[number].collation.upper() == loop.index.columns[at].collation.upper():
                return number
        if not mode & (GROUP | DISTINCT):
            return -1
    return -1
