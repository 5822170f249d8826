"""What the planner of one query block is asked, and what it answers.

Lowering builds a :class:`Request` for a block, calls ``plan.access.choose:choose(block, request)`` and gets a :class:`JoinPlan` whose ``levels`` go
into ``physical.Join`` as they are.  FROM sub-queries are lowered first and handed in through ``Request.query_plans``; whether such a sub-query is a
co-routine or a materialised table is decided here (``QueryScan.materialized``).

Sub-queries in expressions are lowered *after* ``choose``: those in ``JoinPlan.constants`` under ``request.outer_rows``, all others of the block under
``JoinPlan.inner_rows`` (both are the Request.outer_rows of the nested block).

Follows "Query Planning" of the manual.
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlvec.expr.bound import Column, Expression, OrderTerm
    from sqlvec.plan.logical import FromItem
    from sqlvec.plan.physical import Level, Node, QueryScan


class QueryPlan:
    """A lowered FROM sub-query: its physical ``node``, row estimate ``rows`` (LogEst), activation ``slot`` and the ``outer`` columns it depends on."""

    __slots__ = ("node", "outer", "rows", "slot")

    def __init__(self, node: Node, rows: int, slot: int, outer: tuple[Column, ...] = ()) -> None:
        self.node = node
        self.rows = rows
        self.slot = slot
        self.outer = outer


class Request:
    """What the loops of a block should deliver.

    ``mode`` says what ``order`` is:

    ``'order'``  the ORDER BY terms (empty tuple: no order wanted)
    ``'group'``  the GROUP BY list as OrderTerms (directions copied from an ORDER BY of the same length, else ascending); ``sort_by_group``: the
                 ORDER BY is the same list, so directions matter in the end
    ``'min'``/``'max'``  the only aggregate is min(x) or max(x), there is neither GROUP BY nor HAVING: ``order`` is the one term x (descending for max)

    ``distinct``: the expressions that should come distinct (the result list of SELECT DISTINCT, or the argument of the only DISTINCT aggregate of a
    query without GROUP BY), else None.  With ``distinct`` and no ``order`` the result list of SELECT DISTINCT stands in for the order.

    ``kind`` is 'SELECT', 'UPDATE' or 'DELETE' (the scan that finds rows to change).  ``outer_rows`` is the row estimate (LogEst) of all enclosing
    loops; 0 at top level.  ``bind(item, ast_expression)`` binds an expression of an index definition (index key or partial WHERE) to the FROM item.
    ``virtual_table(item)`` gives the connected module instance of a virtual table."""

    __slots__ = ("automatic_index", "bind", "case_sensitive_like", "distinct", "kind", "mode", "order", "outer_rows", "query_plans",
                 "reverse_unordered", "sort_by_group", "virtual_table")

    def __init__(self, order: tuple[OrderTerm, ...] = (), mode: str = "order", distinct: tuple[Expression, ...] | None = None, kind: str = "SELECT",
                 outer_rows: int = 0) -> None:
        self.order = order
        self.mode = mode
        self.distinct = distinct
        self.kind = kind
        self.outer_rows = outer_rows
        self.sort_by_group = False
        self.query_plans: dict[int, QueryPlan] = {}
        self.automatic_index = True
        self.case_sensitive_like = False
        self.reverse_unordered = False
        self.bind: Callable[[FromItem, Any], Expression] | None = None
        self.virtual_table: Callable[[FromItem], Any] | None = None


class JoinPlan:
    """The answer.

    ``levels``     nested loops, outermost first, conditions placed; put them into ``physical.Join(levels, columns, constants)``
    ``constants``  conditions without columns of the block, to be checked once before the loops
    ``ordered``    how many leading terms of ``request.order`` (mode 'group': all or 0 is what matters: ``== len(order)`` means that equal keys come
                   adjacent) the loops deliver; -1 = nothing known (treat as 0)
    ``sorted_by_group``  mode 'group' with ``sort_by_group``: groups come in the wanted directions, no sort is needed afterwards
    ``distinct``   'unique' (no duplicates can occur), 'ordered' (duplicates come adjacent) or 'unordered'
    ``rows``       LogEst of the rows the loops deliver; ``inner_rows`` = Request.outer_rows for what is evaluated inside the loops
    ``first_only`` modes min/max: the wanted row is the first whose argument is not NULL (min) or the very first (max)
    ``one_pass``   UPDATE/DELETE: None, 'single' (at most one row) or 'multi' (rows may be changed while the scan goes on, as far as the scan is concerned)
    ``omitted``    sources of LEFT JOIN tables left out because nothing needs them; ``unused`` are those of them that are sub-queries"""

    __slots__ = ("constants", "distinct", "first_only", "inner_rows", "levels", "omitted", "one_pass", "ordered", "rows", "sorted_by_group", "unused")

    def __init__(self, levels: tuple[Level, ...], constants: tuple[Expression, ...] = ()) -> None:
        self.levels = levels
        self.constants = constants
        self.ordered = 0
        self.sorted_by_group = False
        self.distinct = "unordered"
        self.rows = 0
        self.inner_rows = 0
        self.first_only = False
        self.one_pass: str | None = None
        self.omitted: tuple[int, ...] = ()
        self.unused: tuple[QueryScan, ...] = ()
