"""Choose access paths and join order of one query block: the front of the planner.

    conditions --terms--> Clause --candidates--> loops --join_order--> best path --paths, levels--> physical.Level

A block over one ordinary table with a unique lookup takes a short cut past the search.

Follows "The SQLite Query Optimizer Overview" and "The Next-Generation Query Planner" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.expr.bound import Compare, FixedColumn, InList, InSubquery, OrderTerm, without_fixed_columns
from sqlvec.plan import physical
from sqlvec.plan.access.candidates import (
    BIG_NULL,
    BY_ROWID,
    COLUMN_EQ,
    COLUMN_IN,
    COVERING,
    INDEXED,
    MULTI_OR,
    ONE_ROW,
    SELF_CULLING,
    VIRTUAL_TABLE,
    Candidates,
    Loop,
    all_not_null,
    is_covering,
)
from sqlvec.plan.access.cost import literal_limit
from sqlvec.plan.access.describe import bloom_columns
from sqlvec.plan.access.levels import Placed, place_conditions, reads_index_only
from sqlvec.plan.access.paths import PathBuilder
from sqlvec.plan.access.result import JoinPlan
from sqlvec.plan.access.terms import EQ, EQUAL, IN, ROWID, Clause, Scope, is_deterministic
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.expr.bound import Expression
    from sqlvec.plan.access.join_order import Walk
    from sqlvec.plan.access.ordering import Order
    from sqlvec.plan.access.result import Request
    from sqlvec.plan.logical import Block, FromItem

_MODES = {"order": 0, "group": 1, "min": 4, "max": 8}
_DISTINCT, _INNER = 2, 16


def runs_as_coroutine(block: Block, position: int) -> bool:
    """Is the FROM sub-query at ``position`` a co-routine of its reader (else it is materialised)?"""
    items = block.from_items
    cte = items[0].cte
    if position != 0 or items[0].left_of_right or items[0].query is None:
        return False
    if cte is not None and (cte.materialized or (cte.materialized is None and cte.references > 1)):
        return False
    return len(items) == 1 or items[1].left or items[1].right or items[1].cross


def choose(block: Block, request: Request) -> JoinPlan:
    """The loops of ``block``."""
    items = block.from_items
    if not items:
        plan = JoinPlan((), tuple(without_fixed_columns(condition.expression) for condition in block.conditions))
        plan.ordered = len(request.order)
        plan.distinct = "unique"
        plan.inner_rows = request.outer_rows
        return plan
    scope = Scope(items, request)
    clause = Clause(scope)
    clause.add_conditions(block.conditions)
    clause.analyse()
    constants = _take_constants(clause)
    plan = _short_cut(block, request, clause) if len(items) == 1 else None  # type: ignore[assignment]
    if plan is None:
        plan = _search(block, request, clause)
    plan.constants = constants
    plan.inner_rows = request.outer_rows + plan.rows
    return plan


def _take_constants(clause: Clause) -> tuple[Expression, ...]:
    """Conditions that read nothing of the block and can't change: checked once, before the loops."""
    found = []
    for term in clause.terms:
        if term.needs == 0 and not term.virtual and not term.used and is_deterministic(term.expression):
            term.used = True
            found.append(without_fixed_columns(term.expression))
    return tuple(found)


# --- one table, one row -----------------------------------------------------------------------------------------------------------------


def _short_cut(block: Block, request: Request, clause: Clause) -> JoinPlan | None:
    """The lookup of one row by rowid or by a unique index with constants."""
    item = block.from_items[0]
    table = item.table
    if table is None or table.kind != "table" or item.index_name is not None or item.not_indexed:
        return None
    loop = None
    if not table.without_rowid:
        for term, _ in clause.find(item.source, ROWID, EQUAL):
            if not term.right_needs:
                loop = Loop(0)
                loop.flags = COLUMN_EQ | BY_ROWID | ONE_ROW
                loop.terms = [term]
                break
    if loop is None:
        loop = _unique_lookup(item, clause)
    if loop is None:
        return None
    loop.equal = len(loop.terms)
    loop.rows = 1
    builder = PathBuilder(Candidates(clause, request, ()), -1, request.mode in ("min", "max"))
    plan = JoinPlan(_levels(block, clause, builder, (loop,), 0))
    plan.ordered = len(request.order)
    plan.distinct = "unique"
    plan.first_only = request.mode in ("min", "max")
    plan.rows = 1
    plan.one_pass = "single" if request.kind != "SELECT" else None
    return plan


def _unique_lookup(item: FromItem, clause: Clause) -> Loop | None:
    table = item.table
    assert table is not None
    for index in table.indexes:
        if not index.unique or index.where is not None or index.key_count > 3:
            continue
        operators = EQUAL if all_not_null(index, table) else EQ
        terms = []
        for column in index.columns[:index.key_count]:
            if column.column < ROWID:
                break
            if column.column in (ROWID, table.rowid_column):
                found = clause.find(item.source, ROWID, operators)
            else:
                found = clause.find(item.source, column.column, operators, table.columns[column.column].affinity, column.collation.upper())
            term = next((one for one, _ in found if not one.right_needs), None)
            if term is None:
                break
            terms.append(term)
        if len(terms) == index.key_count:
            loop = Loop(0)
            loop.index = index
            loop.flags = INDEXED | COLUMN_EQ | ONE_ROW | (COVERING if is_covering(index, item, clause.scope.request.kind) else 0)
            loop.terms = list(terms)
            return loop
    return None


# --- the general search -----------------------------------------------------------------------------------------------------------------


def _search(block: Block, request: Request, clause: Clause) -> JoinPlan:
    items = block.from_items
    wanted = request.order
    mode = _MODES[request.mode]
    distinct = "unordered"
    stands_in = False
    if request.distinct is not None:
        if _is_redundant_distinct(request.distinct, block, clause):
            distinct = "unique"
        elif not wanted and not block.is_aggregate:
            stands_in = True
            mode = _DISTINCT
            wanted = tuple(OrderTerm(expression, collation=expression.collation or "BINARY") for expression in request.distinct)
    candidates = Candidates(clause, request, wanted)
    _add_all(candidates)
    find = resolve("sqlvec.plan.access.join_order:search")
    walk = find(candidates.loops, len(items), request.outer_rows, None, 0, None)
    if walk is None:
        raise errors.no_query_solution()
    order = None
    first = walk.loops
    if wanted:
        order = resolve("sqlvec.plan.access.ordering:Order")(clause, wanted)
        limit = None
        if request.mode == "order" and not block.is_aggregate:
            limit = literal_limit(block.window_limit if block.windows else block.limit or block.limit_hint)
        cost = resolve("sqlvec.plan.access.join_order:SortCost")(
            walk.rows + 1, len(wanted), limit, request.distinct is not None)
        for loop in candidates.loops:
            loop.flags &= ~BIG_NULL
        if walk.rows + 1:                       # an estimate of 0 means "no order wanted" to the search, as in SQLite
            walk = find(candidates.loops, len(items), request.outer_rows, order, mode, cost)
        assert walk is not None
    loops, reverse = walk.loops, walk.reverse
    plan = JoinPlan(())
    plan.rows = walk.rows
    plan.distinct = distinct
    big_null = None
    if order is not None:
        reverse, big_null = _settle_order(plan, request, order, walk, mode, stands_in)
    elif request.reverse_unordered:
        reverse = -1
    if request.distinct is not None and not stands_in and distinct != "unique":
        own = tuple(OrderTerm(expression, collation=expression.collation or "BINARY") for expression in request.distinct)
        check = resolve("sqlvec.plan.access.ordering:Order")(clause, own)
        if block.is_aggregate:                  # SQLite doesn't see which tables the arguments of aggregates depend on
            kept = len(block.group_by or ())
            check.masks = [*check.masks[:kept], *[0] * (len(own) - kept)]
        satisfied = resolve("sqlvec.plan.access.ordering:satisfied")
        if satisfied(check, loops, _DISTINCT)[0] == len(own) and (request.mode != "group" or satisfied(check, first, _DISTINCT)[0] == len(own)):
            plan.distinct = "ordered"
    if len(loops) > 1 and request.kind == "SELECT" and not block.is_aggregate:
        kept = resolve("sqlvec.plan.access.omit_join:omit_joins")(block, request, clause, loops, plan)
        reverse = sum(1 << at for at, loop in enumerate(kept) if reverse >> loops.index(loop) & 1) if reverse > 0 else reverse
        loops = kept
    if clause.scope.has_right:                  # unmatched rows come last: no order survives
        plan.ordered = 0
        plan.sorted_by_group = plan.first_only = False
        plan.distinct = "unordered" if plan.distinct == "ordered" else plan.distinct
    coroutine = 0 if runs_as_coroutine(block, 0) else -1
    builder = PathBuilder(candidates, coroutine, request.mode in ("min", "max"))
    builder.big_null = big_null
    plan.levels = _levels(block, clause, builder, loops, reverse)
    if plan.omitted:
        scans = [builder.scan(item, position) for position, item in enumerate(items) if item.source in plan.omitted and item.query is not None]
        plan.unused = tuple(scan for scan in scans if isinstance(scan, physical.QueryScan))
    if request.kind != "SELECT" and len(loops) == 1:
        only = loops[0]
        if only.flags & ONE_ROW:
            plan.one_pass = "single"
        elif not only.flags & (MULTI_OR | VIRTUAL_TABLE):
            plan.one_pass = "multi"
    return plan


def _settle_order(plan: JoinPlan, request: Request, order: Order, walk: Walk, mode: int, stands_in: bool) -> tuple[int, bool | None]:
    """Fill in what the chosen path satisfies; returns the loops to run backwards and where a two-pass NULL scan puts the NULLs."""
    satisfied = resolve("sqlvec.plan.access.ordering:satisfied")
    loops, reverse = walk.loops, walk.reverse
    count = len(order.terms)
    ordered = walk.ordered
    if stands_in:
        if ordered == count:
            plan.distinct = "ordered"
        return 0, None                          # duplicates need only be adjacent: nothing runs backwards for that
    if ordered <= 0:
        ordered = 0
        last = loops[-1]
        if not last.flags & ONE_ROW and last.flags & (BY_ROWID | COLUMN_IN) != BY_ROWID | COLUMN_IN:
            found, backwards = satisfied(order, loops, _INNER)
            if found == count:
                reverse = backwards
        for loop in loops:
            loop.flags &= ~BIG_NULL             # what is sorted afterwards needs no two-pass scan
    plan.ordered = ordered
    if request.mode in ("min", "max") and ordered == 1:     # IN: the order starts anew with each value of the list
        plan.first_only = not any(loop.flags & COLUMN_IN for loop in loops)
    if request.mode == "group" and request.sort_by_group and ordered == count:
        found, backwards = satisfied(order, loops, 0)
        if found == count:
            plan.sorted_by_group = True
            reverse = backwards
    big_null = next((term.nulls_last for term in order.terms if term.nulls_last is not None and term.nulls_last != term.descending), None)
    return reverse, big_null


def _add_all(candidates: Candidates) -> None:
    """Candidates of all FROM items, with the items that must come before each."""
    items = candidates.scope.items
    prereq = before = 0
    has_right = candidates.scope.has_right
    for position, item in enumerate(items):
        is_fixed = item.left or item.right or item.cross or item.left_of_right or (position > 0 and items[position - 1].right)
        if is_fixed:
            prereq |= before
        elif not has_right:
            prereq = 0
        candidates.add_item(position, prereq)
        before |= 1 << position


def _levels(block: Block, clause: Clause, builder: PathBuilder, loops: tuple[Loop, ...], reverse: int) -> tuple[physical.Level, ...]:
    """Build the paths of the chosen loops and place what remains to be checked."""
    items = block.from_items
    blooms = _bloom_filters(items, loops) if len(loops) > 1 else ()
    paths = []
    implied: list[Placed] = []
    dropped = 0
    if len(loops) < len(items):
        for position in range(len(items)):
            if all(loop.position != position for loop in loops):
                dropped |= 1 << position
    builder.ready |= dropped
    for depth, loop in enumerate(loops):
        paths.append(builder.build(loop, bool(reverse >> depth & 1)))
        if depth < len(loops) - 1:
            _add_implied(clause, builder, loop, items[loop.position], implied)
    remaining = [Placed(without_fixed_columns(term.expression), term.needs, term.outer_on, term.inner_on) for term in clause.terms
                 if not term.used and not term.virtual and not term.needs & dropped]
    remaining += implied
    levels = place_conditions(items, [loop.position for loop in loops], paths, remaining, reads_index_only)
    for level, loop in zip(levels, loops, strict=True):
        level.rows = loop.rows
        level.position = loop.position
        if loop.position in blooms:
            level.bloom = bloom_columns(level.path)
        if items[loop.position].right:
            level.rest = resolve("sqlvec.plan.access.right_join:rest_path")(block, builder, loop, loops)
    return levels


def _add_implied(clause: Clause, builder: PathBuilder, loop: Loop, item: FromItem, implied: list[Placed]) -> None:
    """``a.x = b.x AND b.x IN (...)``: when a comes first, the values of a.x are checked, and those of b.x need not be."""
    if item.left or item.right or item.left_of_right:
        return
    for term in clause.terms:
        if term.virtual or term.used or not term.equivalent or not term.operator & EQUAL or term.source != item.source:
            continue
        if type(term.left) is FixedColumn:
            continue
        found = clause.find_best(item.source, term.column, ~builder.ready, EQUAL | IN)
        if found is None or found.used or not found.needs & ~builder.ready or found.virtual or found is term or found.left is None or term.left is None:
            continue
        expression = found.expression
        if isinstance(expression, InSubquery) and len(expression.operands) > 1:
            continue
        copy = expression.copy()
        if isinstance(expression, InSubquery):
            copy.operands = (term.left,)
        elif isinstance(expression, InList):
            copy.operand = term.left
        elif isinstance(expression, Compare) and expression.left is found.left:
            copy.left = term.left
        elif isinstance(expression, Compare) and expression.right is found.left:
            copy.right = term.left
        else:
            continue
        implied.append(Placed(without_fixed_columns(copy), loop.bit, None, None))
        found.used = True


def _bloom_filters(items: list[FromItem], loops: tuple[Loop, ...]) -> set[int]:
    """The FROM positions before whose search SQLite puts a Bloom filter: analysed tables that earlier loops search more often than they have rows."""
    found = set()
    searches = 0
    for depth, loop in enumerate(loops):
        table = items[loop.position].table
        culls = loop.flags & (SELF_CULLING | COLUMN_EQ) == SELF_CULLING | COLUMN_EQ and loop.flags & (BY_ROWID | INDEXED)
        if depth and table is not None and table.has_statistics and culls \
                and searches > table.row_estimate:
            found.add(loop.position)
            loop.flags &= ~COVERING
        searches += loop.rows
    return found


def _is_redundant_distinct(results: tuple[Expression, ...], block: Block, clause: Clause) -> bool:
    """Can a DISTINCT over these expressions of one table remove nothing?"""
    if len(block.from_items) != 1:
        return False
    item = block.from_items[0]
    table = item.table
    if table is None or table.kind != "table":
        return False
    scope = clause.scope
    columns = [scope.column_of(expression) for expression in results]
    if any(at == (item.source, ROWID) for at in columns) and not table.without_rowid:
        return True
    for index in table.indexes:
        if not index.unique or index.where is not None:
            continue
        for key in index.columns[:index.key_count]:
            term = None
            if key.column >= ROWID:
                for one, _ in clause.find(item.source, key.column, EQ, table.columns[key.column].affinity, key.collation.upper()):
                    if not one.right_needs:
                        term = one
                        break
            if term is not None:
                continue
            if not any(at == (item.source, key.column) and (expression.collation or "BINARY").upper() == key.collation.upper()
                       for at, expression in zip(columns, results, strict=True)):
                break
            if table.columns[key.column].not_null is None and not (table.without_rowid and key.column in table.primary_key):
                break
        else:
            return True
    return False
