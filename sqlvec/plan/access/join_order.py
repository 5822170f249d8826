"""The N-best search for the order of nested loops.

Paths of length k+1 are made from the best paths of length k by appending every candidate loop that can follow; only a handful of them (1, 5 or 10)
are kept.  The search runs once without regard to the wanted order, which gives the row estimate that sorting costs are computed from, and
again with it.

Follows "The Next-Generation Query Planner" of the manual, section "The N nearest neighbors".
"""
from __future__ import annotations

from sqlvec.plan.access.candidates import AUTOMATIC, QUERY_SCAN, Loop
from sqlvec.plan.access.cost import add, seek_cost
from sqlvec.plan.access.ordering import Order, satisfied
from sqlvec.schema.objects import log_estimate

TYPE_CHECKING = False


class Walk:
    """A kept path: its loops and costs.  ``ordered`` is the number of satisfied order terms or -1; ``unsorted`` the cost without sorting."""

    __slots__ = ("cost", "loops", "mask", "ordered", "reverse", "rows", "unsorted")

    def __init__(self, loops: tuple[Loop, ...], mask: int, rows: int, cost: int, unsorted: int, ordered: int, reverse: int) -> None:
        self.loops = loops
        self.mask = mask
        self.rows = rows
        self.cost = cost
        self.unsorted = unsorted
        self.ordered = ordered
        self.reverse = reverse


class SortCost:
    """Cost of sorting ``rows`` when a number of leading terms is already satisfied.  ``limit`` is the LogEst of a LIMIT, None without one."""

    __slots__ = ("count", "known", "limit", "rows")

    def __init__(self, rows: int, count: int, limit: int | None, distinct: bool) -> None:
        self.rows = rows
        self.count = count
        self.limit = rows if limit is None else min(rows, limit)
        if limit is None and distinct and rows > 10:
            self.limit = rows - 10
        self.known: dict[int, int] = {}

    def of(self, ordered: int) -> int:
        cost = self.known.get(ordered)
        if cost is None:
            scale = log_estimate((self.count - ordered) * 100 // self.count) - 66
            cost = self.known[ordered] = self.rows + scale + 16 + seek_cost(self.limit)
        return cost


def search(candidates: list[Loop], count: int, outer_rows: int, order: Order | None, mode: int, sort_cost: SortCost | None) -> Walk | None:
    """The best path over ``count`` FROM items, None when there is none."""
    width = 1 if count <= 1 else 5 if count == 2 else 10
    wanted = len(order.terms) if order is not None and sort_cost is not None else 0
    kept = [Walk((), 0, min(outer_rows, 48), 0, 0, -1 if wanted and count else wanted, 0)]
    for depth in range(count):
        following: list[Walk] = []
        worst_at = worst_cost = worst_unsorted = 0
        for path in kept:
            for loop in candidates:
                if loop.prereq & ~path.mask or loop.bit & path.mask:
                    continue
                if loop.flags & AUTOMATIC and path.rows < 3:
                    continue
                unsorted = add(add(loop.setup, loop.run + path.rows), path.unsorted)
                rows = path.rows + loop.rows
                mask = path.mask | loop.bit
                ordered, reverse = path.ordered, path.reverse
                if ordered < 0:
                    assert order is not None
                    ordered, reverse = satisfied(order, (*path.loops, loop), mode)
                if 0 <= ordered < wanted:
                    assert sort_cost is not None
                    cost = add(unsorted, sort_cost.of(ordered)) + 5
                else:
                    cost = unsorted
                    unsorted -= 2
                if depth == 0 and loop.flags & QUERY_SCAN:
                    cost -= 10
                    rows -= 30
                at = next((number for number, other in enumerate(following)
                           if other.mask == mask and (other.ordered < 0) == (ordered < 0)), -1)
                if at < 0:
                    if len(following) >= width:
                        if cost > worst_cost or (cost == worst_cost and unsorted >= worst_unsorted):
                            continue
                        at = worst_at
                    else:
                        at = len(following)
                        following.append(path)
                else:
                    other = following[at]
                    if (other.cost, other.rows, other.unsorted) <= (cost, rows, unsorted):
                        continue
                following[at] = Walk((*path.loops, loop), mask, rows, cost, unsorted, ordered, reverse)
                if len(following) >= width:
                    worst_at, worst_cost, worst_unsorted = 0, following[0].cost, following[0].rows
                    for number in range(1, width):
                        other = following[number]
                        if other.cost > worst_cost or (other.cost == worst_cost and other.unsorted > worst_unsorted):
                            worst_at, worst_cost, worst_unsorted = number, other.cost, other.unsorted
        kept = following
    best = None
    for path in kept:
        if best is None or path.cost < best.cost:
            best = path
    return best
