"""Candidate loops: every way worth considering to find the rows of one FROM item, with its cost.

A :class:`Loop` costs ``setup`` once and ``run`` per outer row and delivers ``rows`` rows (all LogEst); it can run inside any loops that provide the
FROM items ``prereq``.  For each item, in this order: automatic indexes, the table scan and searches by rowid, then each index in list order
(full scan, then searches, depth first over its columns), last the multi-index OR.

The list keeps only candidates that no other one beats; list positions decide ties later on, so replacing happens in place.

Follows "The Next-Generation Query Planner" and "The SQLite Query Optimizer Overview" of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import Column, FixedColumn, InList, InSubquery, RowCompare
from sqlvec.plan.access.cost import add, seek_cost
from sqlvec.plan.access.terms import EQ, EQUAL, EXPRESSION, IN, INDEXABLE, LOWER, NULL, ROWID, UPPER, Clause, Term, affinity_fits, comparison_affinity, strip
from sqlvec.resolve import resolve
from sqlvec.schema.objects import log_estimate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.expr.bound import Expression, OrderTerm
    from sqlvec.plan.access.result import Request
    from sqlvec.plan.logical import FromItem
    from sqlvec.schema.objects import Index, Table

BY_ROWID, INDEXED, COVERING, ONE_ROW, COLUMN_EQ, COLUMN_RANGE, COLUMN_IN, COLUMN_NULL = 1, 2, 4, 8, 16, 32, 64, 128
AUTOMATIC, SKIP_SCAN, MULTI_OR, HAS_LOWER, HAS_UPPER, VIRTUAL_TABLE, QUERY_SCAN, BIG_NULL, SELF_CULLING, EXPRESSION_INDEX = (
    256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072)
CONSTRAINT = COLUMN_EQ | COLUMN_RANGE | COLUMN_IN | COLUMN_NULL
_LAST_BIT = 63


class Loop:
    """A candidate.  ``terms`` are the used ones in index column order (None for a skipped column), the first ``equal`` of them equalities, then
    ``lower`` and ``upper`` bound."""

    __slots__ = ("bit", "choice", "equal", "flags", "index", "lower", "lower_width", "position", "prereq", "rows", "run", "setup", "skip", "sort_id",
                 "terms", "upper", "upper_width")

    def __init__(self, position: int) -> None:
        self.position = position
        self.bit = 1 << position
        self.prereq = 0
        self.setup = 0
        self.run = 0
        self.rows = 0
        self.flags = 0
        self.index: Index | None = None
        self.terms: list[Term | None] = []
        self.equal = 0
        self.skip = 0
        self.sort_id = 0
        self.lower: Term | None = None
        self.upper: Term | None = None
        self.lower_width = 0
        self.upper_width = 0
        self.choice: Any = None

    def copy(self) -> Loop:
        new = Loop.__new__(Loop)
        for name in Loop.__slots__:
            setattr(new, name, getattr(self, name))
        new.terms = list(self.terms)
        return new

    def __repr__(self) -> str:
        name = self.index.name if self.index is not None else "auto" if self.flags & AUTOMATIC else "rowid" if self.flags & BY_ROWID else "scan"
        return f"Loop({self.position} {name} setup={self.setup} run={self.run} rows={self.rows} prereq={self.prereq:b} eq={self.equal} f={self.flags:x})"


class Candidates:
    """Makes and keeps the candidates of one block.  ``or_set`` is set while the disjunct of a multi-index OR is examined."""

    def __init__(self, clause: Clause, request: Request, order: tuple[OrderTerm, ...], is_or_branch: bool = False, is_rest: bool = False) -> None:
        self.clause = clause
        self.scope = clause.scope
        self.request = request
        self.order = order
        self.is_or_branch = is_or_branch
        self.is_rest = is_rest
        self.loops: list[Loop] = []
        self.sort_id = 0                        # left over between FROM items: automatic indexes carry it
        self.or_set: OrSet | None = None
        self._order_columns: list[tuple[int, int] | None] = [self.scope.column_of(term.expression) for term in order]

    # --- one FROM item --------------------------------------------------------------------------------------------------------------

    def add_item(self, position: int, prereq: int) -> None:
        """All candidates of the FROM item at ``position``, which must come after the items in ``prereq``."""
        item = self.scope.items[position]
        if item.table is not None and item.table.kind == "virtual":
            resolve("sqlvec.plan.access.virtual_table:add_virtual")(self, position, prereq)
        else:
            self.add_tree(position, prereq)
        if self.clause.has_or:
            resolve("sqlvec.plan.access.multi_index_or:add_or")(self, position, prereq)

    def add_tree(self, position: int, prereq: int) -> None:
        """Candidates over the trees of an ordinary table, or over a sub-query's rows."""
        item = self.scope.items[position]
        table = item.table
        if self.or_set is None and not self.is_or_branch and not self.is_rest and self.request.automatic_index and _may_index(item):
            self._add_automatic(position, item, prereq)
        rows = self.table_rows(item)
        if table is None:
            self._add_rowid(position, item, prereq, rows, 1)
            return
        ordinal = 1
        if not table.without_rowid and item.index_name is None:
            self._add_rowid(position, item, prereq, rows, ordinal)
            ordinal += 1
        if item.not_indexed and not table.without_rowid:
            return
        for index in table.indexes:
            if item.index_name is not None and index.name.lower() != item.index_name.lower():
                continue
            if index.where is None or resolve("sqlvec.plan.access.partial_index:is_usable")(self, item, index):
                self._add_index(position, item, table, index, prereq, ordinal)
            ordinal += 1

    def table_rows(self, item: FromItem) -> int:
        """LogEst of the rows of a FROM item."""
        if item.table is not None:
            return item.table.row_estimate
        if item.view is not None:               # SQLite keeps the estimate with the view: the last use counts for all
            item = next(other for other in reversed(self.scope.items) if other.view is item.view and other.query is not None)
        plan = self.request.query_plans.get(item.source)
        return 200 if plan is None or item.recursive is not None else plan.rows

    def _helps_order(self, item: FromItem, index: Index | None) -> bool:
        """Could the index deliver rows in a wanted order?"""
        if not self.order or (index is not None and index.is_unordered):
            return False
        for term, at in zip(self.order, self._order_columns, strict=True):
            if at is not None:
                if at[0] != item.source:
                    continue
                if at[1] == ROWID:
                    return True
                if index is not None and any(column.column == at[1] for column in index.columns[:index.key_count]):
                    return True
            elif index is not None:
                expressions = self.scope.index_expressions(item, index)
                if any(one is not None and one.key() == strip(term.expression).key() for one in expressions[:index.key_count]):
                    return True
        return False

    def _add_automatic(self, position: int, item: FromItem, prereq: int) -> None:
        rows = self.table_rows(item)
        log_rows = seek_cost(rows)
        for term in self.clause.terms:
            if term.source != item.source or not can_drive_automatic(self.clause, term, item):
                continue
            if term.right_needs & (1 << position):
                continue
            loop = Loop(position)
            loop.flags = AUTOMATIC | COLUMN_EQ
            loop.equal = 1
            loop.terms = [term]
            loop.setup = log_rows + rows + (28 if item.table is not None else -10)
            loop.setup = max(loop.setup, 0)
            loop.rows = 43
            loop.run = add(log_rows, 43)
            loop.prereq = prereq | term.right_needs
            loop.sort_id = self.sort_id
            self.insert(loop)

    def _add_rowid(self, position: int, item: FromItem, prereq: int, rows: int, ordinal: int) -> None:
        """The table scan, then searches by rowid."""
        loop = Loop(position)
        self.sort_id = ordinal if self._helps_order(item, None) else 0
        loop.sort_id = self.sort_id
        loop.flags = BY_ROWID
        if item.table is None:
            loop.flags |= QUERY_SCAN
        loop.prereq = prereq
        loop.run = rows + 16
        loop.rows = rows
        self.adjust_output(loop, rows)
        self.insert(loop)
        loop.rows = rows
        if item.table is not None:
            _Search(self, item, None, loop, rows).extend(0)

    def _add_index(self, position: int, item: FromItem, table: Table, index: Index, prereq: int, ordinal: int) -> None:
        """The full scan of an index, then its searches."""
        loop = Loop(position)
        rows = index.row_estimates[0]
        helps = self._helps_order(item, index)
        self.sort_id = loop.sort_id = ordinal if helps else 0
        loop.index = index
        loop.prereq = prereq
        loop.rows = rows
        covering = is_covering(index, item, self.request.kind)
        loop.flags = INDEXED | COVERING if covering else INDEXED
        has_expressions = any(column.expression is not None for column in index.columns)
        narrow = covering and not index.is_unordered and index.row_size < table.row_size and self.request.kind == "SELECT"
        if (helps or table.without_rowid or index.where is not None or item.index_name is not None or narrow) and not (item.right and has_expressions):
            loop.run = rows + 1 + (15 * index.row_size) // max(table.row_size, 1)
            if not covering:
                loop.run = add(loop.run, self._lookup_cost(item, index, rows))
            self.adjust_output(loop, rows)
            self.insert(loop)
            loop.rows = rows
        _Search(self, item, index, loop, rows).extend(0)

    def _lookup_cost(self, item: FromItem, index: Index, rows: int) -> int:
        """Cost of reading table rows for the index entries that pass the conditions computable from the index."""
        cost = rows + 16
        available = {column.column for column in index.columns}
        for term in self.clause.terms:
            if not self._covered(term.expression, item, available):
                break
            if term.hint <= 0:
                cost += term.hint
            else:
                cost -= 1
                if term.operator & EQUAL:
                    cost -= 19
        return cost

    def _covered(self, expression: Expression, item: FromItem, available: set[int]) -> bool:
        """Are the item's columns in the expression among those available?  Sub-queries aren't looked into."""
        if type(expression) is FixedColumn:
            expression = expression.column
        if type(expression) is Column:
            return expression.source != item.source or expression.number in available or self.scope.normal(expression) == ROWID
        return all(self._covered(child, item, available) for child in expression.children())

    # --- rows after other conditions, and the list ----------------------------------------------------------------------------------

    def adjust_output(self, loop: Loop, rows: int) -> None:
        """Lower ``loop.rows`` for the conditions that the loop doesn't use itself."""
        reduce = 0
        available = loop.prereq | loop.bit
        clause = self.clause
        for term in clause.terms[:clause.base]:
            if term.virtual or term.needs & ~available or not term.needs & loop.bit:
                continue
            if any(used is term or (used is not None and used.parent is term) for used in loop.terms):
                continue
            item = self.scope.items[loop.position]
            if term.needs == loop.bit and (term.operator & (EQUAL | IN | LOWER | UPPER) or not (item.left or item.left_of_right)):
                loop.flags |= SELF_CULLING
            if term.hint <= 0:
                loop.rows += term.hint
                continue
            loop.rows -= 1
            if term.operator & EQUAL:
                value = integer_value(term.right)
                reduce = max(reduce, 10 if value is not None and -1 <= value <= 1 else 20)
        loop.rows = min(loop.rows, rows - reduce)

    def insert(self, new: Loop) -> None:
        """Keep a copy of ``new`` unless an existing candidate is at least as good; drop those that it beats."""
        new = new.copy()
        if new.index is not None:
            self._adjust_subsets(new)
        if self.or_set is not None:
            if new.terms:
                self.or_set.insert(new.prereq, new.run, new.rows)
            return
        loops = self.loops
        position = 0
        replaced = None
        while position < len(loops):
            old = loops[position]
            if old.position != new.position or old.sort_id != new.sort_id:
                position += 1
                continue
            beaten = bool(old.flags & AUTOMATIC and not new.skip and new.flags & INDEXED and new.flags & COLUMN_EQ
                          and old.prereq & new.prereq == new.prereq)
            if not beaten:
                if old.prereq & new.prereq == old.prereq and old.setup <= new.setup and old.run <= new.run and old.rows <= new.rows:
                    if replaced is None:
                        return
                    break
                beaten = old.prereq & new.prereq == new.prereq and old.run >= new.run and old.rows >= new.rows
            if not beaten:
                position += 1
            elif replaced is None:
                loops[position] = new
                replaced = new
                position += 1
            else:
                del loops[position]
        if replaced is None:
            loops.append(new)

    def _adjust_subsets(self, new: Loop) -> None:
        """A search with more terms must not look dearer than one with a part of them."""
        for old in self.loops:
            if old.position != new.position or old.index is None:
                continue
            if _is_cheaper_subset(old, new):
                new.run = min(old.run, new.run)
                new.rows = min(old.rows - 1, new.rows)
            elif _is_cheaper_subset(new, old):
                new.run = max(old.run, new.run)
                new.rows = max(old.rows + 1, new.rows)


def _is_cheaper_subset(small: Loop, large: Loop) -> bool:
    if len(small.terms) - small.skip >= len(large.terms) - large.skip:
        return False
    if small.run > large.run and small.rows > large.rows:
        return False
    if large.skip > small.skip:
        return False
    if any(term is not None and not any(other is term for other in large.terms) for term in small.terms):
        return False
    return not (small.flags & COVERING and not large.flags & COVERING)


class OrSet:
    """The up to three best (prereq, run, rows) of one disjunct or of a combination of them."""

    __slots__ = ("costs",)

    def __init__(self) -> None:
        self.costs: list[list[int]] = []

    def insert(self, prereq: int, run: int, rows: int) -> None:
        slot = None
        for cost in self.costs:
            if run <= cost[1] and prereq & cost[0] == prereq:
                slot = cost
                break
            if cost[1] <= run and cost[0] & prereq == cost[0]:
                return
        if slot is None:
            if len(self.costs) < 3:
                self.costs.append([prereq, run, rows])
                return
            slot = self.costs[0]
            for cost in self.costs[1:]:
                if slot[1] < cost[1]:
                    slot = cost
            if slot[1] <= run:
                return
        slot[0] = prereq
        slot[1] = run
        slot[2] = min(slot[2], rows)


class _Search:
    """The depth-first search over the columns of one index (None: the rowid)."""

    __slots__ = ("candidates", "collations", "columns", "expressions", "index", "item", "loop", "seek", "size_cost", "table_rows", "total")

    def __init__(self, candidates: Candidates, item: FromItem, index: Index | None, loop: Loop, rows: int) -> None:
        self.candidates = candidates
        self.item = item
        self.index = index
        self.loop = loop
        self.total = rows
        self.seek = seek_cost(rows)
        table = item.table
        assert table is not None
        if index is None:
            self.size_cost = 15
            self.columns = [ROWID]
            self.expressions: list[Expression | None] = []
        else:
            self.size_cost = (15 * index.row_size) // max(table.row_size, 1)
            self.columns = [ROWID if column.column == table.rowid_column else column.column for column in index.columns]
            self.expressions = candidates.scope.index_expressions(item, index)

    def _matches(self, at: int, operators: int) -> list[tuple[Term, bool]]:
        column = self.columns[at]
        clause = self.candidates.clause
        if column == ROWID:
            return list(clause.find(self.item.source, ROWID, operators))
        assert self.index is not None
        collation = self.index.columns[at].collation.upper()
        if column == EXPRESSION:
            expression = self.expressions[at]
            assert expression is not None
            return list(clause.find(self.item.source, EXPRESSION, operators, expression.affinity, collation, expression.key()))
        affinity = self.item.table.columns[column].affinity  # type: ignore[union-attr]
        return list(clause.find(self.item.source, column, operators, affinity, collation))

    def extend(self, multiplier: int) -> None:
        """Insert candidates with one more term on the next column, and go on from each."""
        loop, index = self.loop, self.index
        at = loop.equal
        operators = UPPER if loop.flags & HAS_LOWER else INDEXABLE
        if index is not None and index.is_unordered:
            operators &= ~(LOWER | UPPER)
        saved = (loop.equal, loop.skip, len(loop.terms), loop.flags, loop.prereq, loop.rows, loop.lower, loop.upper, loop.lower_width, loop.upper_width)
        for term, _ in self._matches(at, operators):
            if (term.operator == NULL or term.not_null) and self._is_not_null(at):
                continue
            if term.right_needs & loop.bit:
                continue
            if term.like and term.operator & UPPER:
                continue
            if not fits_outer_join(term, self.item):
                continue
            self._use(term, at, multiplier, saved)
        self._restore(saved)
        if index is not None and at == loop.skip and at + 1 < index.key_count and at == len(loop.terms) and not index.no_skip_scan \
                and index.has_statistics and index.row_estimates[at + 1] >= 42 and not loop.flags & HAS_LOWER:
            loop.equal += 1
            loop.skip += 1
            loop.terms.append(None)
            loop.flags |= SKIP_SCAN
            iterations = index.row_estimates[at] - index.row_estimates[at + 1]
            loop.rows -= iterations
            self.extend(multiplier + iterations + 5)
            self._restore(saved)

    def _restore(self, saved: tuple[Any, ...]) -> None:
        loop = self.loop
        (loop.equal, loop.skip, count, loop.flags, loop.prereq, loop.rows, loop.lower, loop.upper, loop.lower_width, loop.upper_width) = saved
        del loop.terms[count:]

    def _use(self, term: Term, at: int, multiplier: int, saved: tuple[Any, ...]) -> None:
        loop, index = self.loop, self.index
        self._restore(saved)
        rows_before = loop.rows
        loop.terms.append(term)
        loop.prereq = (loop.prereq | term.right_needs) & ~loop.bit
        iterations = 0
        operator = term.operator
        if operator & IN:
            found = self._in_iterations(term, at, multiplier)
            if found is None:
                return
            iterations = found
            loop.flags |= COLUMN_IN
        elif operator & EQUAL:
            loop.flags |= COLUMN_EQ
            if self._finds_one(at, operator, multiplier):
                loop.flags |= ONE_ROW
        elif operator & NULL:
            loop.flags |= COLUMN_NULL
        else:
            self._use_range(term, at)
        if operator & (LOWER | UPPER):
            self._estimate_range()
        else:
            loop.equal += 1
            if term.hint <= 0 and self.columns[at] >= 0:
                loop.rows += term.hint - iterations
            else:
                loop.rows += self._estimate(loop.equal) - self._estimate(loop.equal - 1)
                if operator & NULL:
                    loop.rows += 10
        loop.run = add(self.seek, loop.rows + 1 + self.size_cost)
        if not loop.flags & (COVERING | BY_ROWID):
            loop.run = add(loop.run, loop.rows + 16)
        unadjusted = loop.rows
        loop.run += multiplier + iterations
        loop.rows += multiplier + iterations
        self.candidates.adjust_output(loop, self.total)
        self.candidates.insert(loop)
        loop.rows = rows_before if loop.flags & COLUMN_RANGE else unadjusted
        if not loop.flags & HAS_UPPER and loop.equal < len(self.columns) \
                and (index is None or loop.equal < index.key_count or not index.is_table_tree):
            self.extend(multiplier + iterations)

    def _estimate(self, matched: int) -> int:
        if self.index is None:
            return self.total if matched == 0 else 0
        estimates = self.index.row_estimates
        return estimates[matched] if matched < len(estimates) else 0

    def _in_iterations(self, term: Term, at: int, multiplier: int) -> int | None:
        """LogEst of the number of IN values, None when looking them up isn't worthwhile."""
        loop, index = self.loop, self.index
        expression = term.expression
        if isinstance(expression, InSubquery):
            iterations = 0 if any(used is not None and used.expression is expression for used in loop.terms[:-1]) else 46
        else:
            assert isinstance(expression, InList)
            iterations = log_estimate(len(expression.items))
        if index is not None and index.has_statistics and self.seek >= 10:
            worth = self._estimate(at) + seek_cost(iterations) + 10 - (iterations + self.seek)
            if worth < 0 and multiplier >= 2:
                return None
        return iterations

    def _finds_one(self, at: int, operator: int, multiplier: int) -> bool:
        index = self.index
        if self.columns[at] == ROWID:
            return True
        if index is None or multiplier or at != index.key_count - 1 or self.columns[at] < 0 or not index.unique:
            return False
        return all_not_null(index, self.item.table) or (index.key_count == 1 and operator == EQ)  # type: ignore[arg-type]

    def _is_not_null(self, at: int) -> bool:
        column = self.columns[at]
        if column >= 0:
            table = self.item.table
            assert table is not None
            return table.columns[column].not_null is not None or (table.without_rowid and column in table.primary_key)
        return column == ROWID

    def _use_range(self, term: Term, at: int) -> None:
        loop = self.loop
        loop.flags |= COLUMN_RANGE
        width = self._vector_width(term, at)
        if term.operator & LOWER:
            loop.flags |= HAS_LOWER
            loop.lower = term
            loop.lower_width = width
            loop.upper = None
            if term.like:
                upper = self._like_partner(term)
                loop.terms.append(upper)
                loop.flags |= HAS_UPPER
                loop.upper = upper
                loop.upper_width = 1
        else:
            loop.flags |= HAS_UPPER
            loop.upper = term
            loop.upper_width = width

    def _like_partner(self, term: Term) -> Term:
        clause: Clause | None = self.candidates.clause
        while clause is not None:
            for position, other in enumerate(clause.terms):
                if other is term:
                    return clause.terms[position + 1]
            clause = clause.outer
        raise AssertionError("the upper LIKE term follows the lower one")

    def _vector_width(self, term: Term, at: int) -> int:
        """How many components of a row value comparison the index columns from ``at`` on can serve."""
        expression = term.expression
        if not isinstance(expression, RowCompare):
            return 1
        index, scope = self.index, self.candidates.scope
        assert term.left is not None
        swapped = expression.comparisons[0].left is not term.left
        width = 1
        for pair in expression.comparisons[1:]:
            place = at + width
            left, right = (pair.right, pair.left) if swapped else (pair.left, pair.right)
            if index is None or place >= len(self.columns) or scope.column_of(left) != (self.item.source, self.columns[place]):
                break
            if index.columns[place].descending != index.columns[at].descending:
                break
            column = self.columns[place]
            if column < 0 or comparison_affinity(left.affinity, right.affinity) != self.item.table.columns[column].affinity:  # type: ignore[union-attr]
                break
            if pair.using.upper() != index.columns[place].collation.upper():
                break
            width += 1
        return width

    def _estimate_range(self) -> None:
        loop = self.loop
        rows = loop.rows
        both_plain = True
        bounds = 0
        for term in (loop.lower, loop.upper):
            if term is None:
                both_plain = False
                continue
            bounds += 1
            if term.hint <= 0:
                rows += term.hint
                both_plain = False
            elif not term.not_null:
                rows -= 20
        if both_plain:
            rows -= 20
        loop.rows = min(max(rows, 10), loop.rows - bounds)


def fits_outer_join(term: Term, item: FromItem) -> bool:
    """May the term be an index constraint of an item that takes part in an outer join?"""
    if not (item.left or item.right or item.left_of_right):
        return True
    on = term.outer_on if term.outer_on is not None else term.inner_on
    if on != item.source:
        return False
    return not (term.outer_on is None and (item.left or item.right))


def can_drive_automatic(clause: Clause, term: Term, item: FromItem, not_ready: int = 0) -> bool:
    """Can an automatic index over the item be built for this equality?"""
    if not term.operator & EQUAL or not fits_outer_join(term, item) or term.right_needs & not_ready or term.column < 0:
        return False
    return affinity_fits(term.sides, column_affinity(clause, item, term))


def column_affinity(clause: Clause, item: FromItem, term: Term) -> str | None:
    """Affinity of the item's column that a term constrains."""
    if item.table is not None:
        return item.table.columns[term.column].affinity
    assert term.left is not None
    return term.left.affinity


def is_covering(index: Index, item: FromItem, kind: str) -> bool:
    """Are all columns that the statement reads of the item in the index?  UPDATE and DELETE read keys besides, which every index has."""
    if index.is_table_tree:
        return True
    assert item.table is not None
    columns = index.columns
    if item.table.without_rowid and index.origin == "u":
        columns = columns[:index.key_count]     # as in SQLite, which forgets that the key columns were appended to indexes of constraints
    available = {column.column for column in columns}
    rowid = item.table.rowid_column
    used = item.used if item.resolved is None else item.resolved if kind != "SELECT" or item.is_target else item.used | item.resolved
    if any(number >= 0 and item.table.columns[number].generated is not None for number in used):
        return len(item.table.columns) <= _LAST_BIT and all(number in available or number == rowid for number in range(len(item.table.columns)))
    return all((number in available and number < _LAST_BIT) or number in (ROWID, rowid) for number in used)


def all_not_null(index: Index, table: Table) -> bool:
    """Are all key columns declared NOT NULL?"""
    for column in index.columns[:index.key_count]:
        number = column.column
        if number == EXPRESSION:
            return False
        if number >= 0 and number != table.rowid_column and table.columns[number].not_null is None \
                and not (table.without_rowid and number in table.primary_key):
            return False
    return True


def integer_value(expression: Expression | None) -> int | None:
    """The value of an integer literal, signed or not."""
    if expression is None:
        return None
    name = type(expression).__name__
    if name == "Literal":
        value = expression.value  # type: ignore[attr-defined]
        return value if type(value) is int else None
    if name == "Unary" and expression.operator in "+-":  # type: ignore[attr-defined]
        value = integer_value(expression.operand)  # type: ignore[attr-defined]
        return None if value is None else -value if expression.operator == "-" else value  # type: ignore[attr-defined]
    return None


def _may_index(item: FromItem) -> bool:
    if item.index_name is not None or item.not_indexed or item.is_correlated or item.recursive is not None or item.right:
        return False
    return item.table is None or not item.table.without_rowid
