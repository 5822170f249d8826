"""Lowering compound SELECTs and recursive queries.

Without ORDER BY the arms run one after the other: UNION ALL appends, the other operators go through a temporary tree and come out sorted.  With ORDER BY
each arm is sorted by itself (its own loops may deliver the order) and the sorted streams are merged; for other operators than UNION ALL the order is made
total by appending all result columns.

Follows "SELECT", compound select statements, and "The WITH Clause", recursive queries, of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import Collate, Column, OrderTerm
from sqlvec.plan import physical
from sqlvec.plan.access.cost import add, literal_limit
from sqlvec.plan.logical import Block, Compound, RecursiveQuery, ValuesQuery
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.plan.logical import Query
    from sqlvec.plan.lower import Lowering

Key = tuple[int, bool, "bool | None", str]      # result column, descending, nulls last, collation


def lower_compound(lowering: Lowering, query: Compound, outer_rows: int) -> tuple[physical.Node, int]:
    """A compound, merged if it has an ORDER BY."""
    if query.order_by:
        _spread_values(query)
        keys = [_key(term) for term in query.order_by]
        node, rows = _merged(lowering, query, 0, len(query.arms), keys, outer_rows)
    else:
        if query.limit is not None:
            position = len(query.arms) - 1
            while position >= 0:
                arm = query.arms[position]
                if isinstance(arm, Block):
                    arm.limit_hint = query.limit
                if position and query.operators[position - 1] != "UNION ALL":
                    if isinstance(arm, Block):
                        arm.limit_hint = None
                    break
                position -= 1
        node, rows = _appended(lowering, query, len(query.arms), outer_rows)
    limit = literal_limit(query.limit)
    if limit is not None and query.operators[-1] == "UNION ALL":
        rows = min(rows, limit)
    node.rows = rows
    return lowering.limited(node, query), rows


def _spread_values(query: Compound) -> None:
    """The rows of VALUES at the very left are arms of their own in a merge."""
    first = query.arms[0]
    if isinstance(first, ValuesQuery) and len(first.rows) > 1:
        ones: list[Query] = []
        for row in first.rows:
            one = ValuesQuery(first.number, [row])
            one.names = first.names
            ones.append(one)
        query.arms[:1] = ones
        query.operators[:0] = ["UNION ALL"] * (len(ones) - 1)


def _key(term: OrderTerm) -> Key:
    expression = term.expression
    while isinstance(expression, Collate):
        expression = expression.operand
    assert isinstance(expression, Column)
    return expression.number, term.descending, term.nulls_last, term.collation


def _columns(query: Compound | RecursiveQuery, source: int) -> tuple[Column, ...]:
    results = query.results()
    return tuple([Column(source, number, query.names[number], result.affinity, query.collations[number] if query.collations else result.collation)
                  for number, result in enumerate(results)])


def _rows_of(operator: str, left: int, right: int) -> int:
    if operator in ("UNION ALL", "UNION"):
        return add(left, right)
    return min(left, right) if operator == "INTERSECT" else right


def _appended(lowering: Lowering, query: Compound, count: int, outer_rows: int) -> tuple[physical.Node, int]:
    """The first ``count`` arms without ORDER BY."""
    if count == 1:
        return lowering.lower(query.arms[0], outer_rows)
    source = lowering.statement.new_source()
    operator = query.operators[count - 2]
    if operator == "UNION ALL":
        first = count - 1
        while first > 1 and query.operators[first - 2] == "UNION ALL":
            first -= 1
        node, rows = _appended(lowering, query, first, outer_rows)
        arms = [node]
        for arm in query.arms[first:count]:
            node, arm_rows = lowering.lower(arm, outer_rows)
            arms.append(node)
            rows = add(rows, arm_rows)
        return physical.UnionAll(tuple(arms), source, _columns(query, source)), rows
    left, left_rows = _appended(lowering, query, count - 1, outer_rows)
    right, right_rows = lowering.lower(query.arms[count - 1], outer_rows)
    made = physical.SetOperation(operator, left, right, query.collations, source, _columns(query, source))
    made.rows = _rows_of(operator, left_rows, right_rows)
    return made, made.rows


def _merged(lowering: Lowering, query: Compound, first: int, end: int, keys: list[Key], outer_rows: int) -> tuple[physical.Node, int]:
    """The arms from ``first`` to before ``end``, sorted by ``keys``."""
    if end - first == 1:
        return _sorted_arm(lowering, query.arms[first], keys, outer_rows)
    operator = query.operators[end - 2]
    if operator != "UNION ALL":
        present = {key[0] for key in keys}
        keys = keys + [(number, False, None, query.collations[number]) for number in range(len(query.results())) if number not in present]
    middle = _split(query.operators, first, end)
    left, left_rows = _merged(lowering, query, first, middle, keys, outer_rows)
    right, right_rows = _merged(lowering, query, middle, end, keys, outer_rows)
    source = lowering.statement.new_source()
    columns = _columns(query, source)
    terms = tuple([OrderTerm(columns[number], descending, nulls_last, collation) for number, descending, nulls_last, collation in keys])
    made = physical.MergeSetOperation(operator, left, right, terms, query.collations, source, columns)
    made.rows = _rows_of(operator, left_rows, right_rows)
    return made, made.rows


def _split(operators: list[str], first: int, end: int) -> int:
    """Where the right operand begins: at the last arm, but a chain of four or more arms under one UNION [ALL] is halved."""
    operator = operators[end - 2]
    chain = 1
    while end - chain > first and operators[end - chain - 1] == operator:
        chain += 1
    if operator not in ("UNION ALL", "UNION") or chain < 4:
        return end - 1
    return end - chain // 2 if chain % 2 == 0 else end - (chain + 1) // 2


def _sorted_arm(lowering: Lowering, arm: Query, keys: list[Key], outer_rows: int) -> tuple[physical.Node, int]:
    """One arm, sorted: a block plans its own order, others are sorted afterwards."""
    if isinstance(arm, Block):
        # The real one's terms carry a COLLATE each, so that a GROUP BY list never equals them.
        wanted = list(arm.result)
        if arm.windows:
            repeat = resolve("sqlvec.plan.window:repeat_main_calls")
            for number, *_ in keys:
                wanted[number] = repeat(arm.result[number], arm.result, arm.windows)
        arm.order_by = tuple([OrderTerm(Collate(wanted[number], collation) if arm.is_aggregate else wanted[number],
                                        descending, nulls_last, collation) for number, descending, nulls_last, collation in keys])
        return lowering.lower(arm, outer_rows)
    node, rows = lowering.lower(arm, outer_rows)
    if isinstance(node, physical.Values) and len(node.tuples) == 1:
        return node, rows
    terms = tuple([OrderTerm(node.columns[number], descending, nulls_last, collation) for number, descending, nulls_last, collation in keys])
    made = physical.Sort(node, terms)
    made.rows = rows
    return made, rows


def lower_recursive(lowering: Lowering, query: RecursiveQuery, outer_rows: int) -> tuple[physical.Node, int]:
    """A recursive CTE: the queue and the queries that fill it."""
    slot = lowering.queues[id(query)] = lowering.statement.new_slot()
    lowering.kept.append(query)
    setup, _ = lowering.lower(query.setup, outer_rows)
    lowered = [lowering.lower(step, outer_rows) for step in query.steps]
    steps = tuple([step for step, _ in lowered])
    source = query.output_source
    lowering.lower_subqueries([limit for limit in (query.limit, query.offset) if limit is not None], outer_rows)
    node = physical.RecursiveCte(setup, steps, slot, query.distinct, query.collations, query.order_by, query.limit, query.offset, source,
                                 _columns(query, source))
    limit = literal_limit(query.limit)
    rows = lowered[-1][1] if limit is None else min(lowered[-1][1], limit)      # the real one counts the steps, not the setup
    for _, more in lowered[:-1]:
        rows = add(rows, more)
    node.rows = rows
    return node, rows
