"""Choose access paths and join order of one query block."""
from __future__ import annotations

from sqlvec.expr.bound import Column, Compare, sources_of
from sqlvec.plan import physical
from sqlvec.plan.access.levels import Placed, place_conditions, reads_index_only
from sqlvec.plan.access.result import JoinPlan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.plan.access.result import Request
    from sqlvec.plan.logical import Block, FromItem


def runs_as_coroutine(block: Block, position: int) -> bool:
    """Is the FROM sub-query at ``position`` a co-routine of its reader (else it is materialised)?"""
    items = block.from_items
    if position != 0 or items[0].left_of_right or (items[0].cte is not None and items[0].cte.materialized):
        return False
    return len(items) == 1 or items[1].left or items[1].right or items[1].cross


def choose(block: Block, request: Request) -> JoinPlan:
    """The loops of ``block``."""
    items = block.from_items
    bits = {item.source: 1 << position for position, item in enumerate(items)}
    terms = []
    constants = []
    for condition in block.conditions:
        needs = 0
        for source in sources_of(condition.expression):
            needs |= bits.get(source, 0)
        if needs == 0 and condition.outer_on is None and (condition.inner_on is None or not any(item.right for item in items)):
            constants.append(condition.expression)
        else:
            terms.append(Placed(condition.expression, needs, condition.outer_on, condition.inner_on))
    paths: list[physical.Path] = []
    rows = 0
    for position, item in enumerate(items):
        path, used = _path(block, request, position, terms)
        if used is not None:
            terms.remove(used)
        else:
            rows += request.query_plans[item.source].rows if item.source in request.query_plans else 200
        paths.append(path)
    levels = place_conditions(items, list(range(len(items))), paths, terms, reads_index_only)
    for level, item in zip(levels, items, strict=True):
        level.path.used = tuple(sorted(item.used))
        if item.right:
            level.rest = _path(block, request, items.index(item), [])[0]
    plan = JoinPlan(levels, tuple(constants))
    plan.rows = rows
    plan.inner_rows = request.outer_rows + rows
    return plan


def _path(block: Block, request: Request, position: int, terms: list[Placed]) -> tuple[physical.Path, Placed | None]:
    item = block.from_items[position]
    if item.recursive is not None:
        return physical.RecursiveScan(item.source, item.label, request.query_plans[item.source].slot), None
    if item.query is not None:
        plan = request.query_plans[item.source]
        scan = physical.QueryScan(item.source, item.label, plan.node, not runs_as_coroutine(block, position), plan.slot)
        scan.outer = plan.outer
        return scan, None
    table = item.table
    assert table is not None
    if table.kind == "virtual":
        return physical.VtabScan(item.source, item.label, table, None, item.arguments or ()), None
    if table.without_rowid:
        assert table.key_index is not None
        return physical.IndexSearch(item.source, item.label, table, table.key_index, covering=True), None
    later = {other.source for other in block.from_items[position:]}
    for term in terms:
        key = _rowid_key(item, term, later)
        if key is not None:
            return physical.RowidSearch(item.source, item.label, table, key), term
    return physical.TableScan(item.source, item.label, table), None


def _rowid_key(item: FromItem, term: Placed, later: set[int]) -> physical.KeyTerm | None:
    expression = term.expression
    if not isinstance(expression, Compare) or expression.operator != "=" or item.left_of_right:
        return None
    if (term.outer_on is not None) != (item.left or item.right) or term.outer_on not in (None, item.source):
        return None
    for left, right in ((expression.left, expression.right), (expression.right, expression.left)):
        if isinstance(left, Column) and left.source == item.source and left.number in (-1, item.table.rowid_column):  # type: ignore[union-attr]
            if not sources_of(right) & later:
                return physical.KeyTerm("=", right, expression.applied)
    return None
