"""How the unmatched rows of the right table of a RIGHT or FULL JOIN are found: a plan of its own for that table alone.

WHERE terms may drive it, those that read the loops around too: their columns are NULL here.  All conditions are checked on its rows by the level anyway.

Follows "SELECT" of the manual, RIGHT and FULL OUTER JOIN.
"""
from __future__ import annotations

from sqlvec.plan import physical
from sqlvec.plan.access.candidates import Candidates
from sqlvec.plan.access.join_order import search
from sqlvec.plan.access.paths import PathBuilder
from sqlvec.plan.access.terms import Clause, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.plan.access.candidates import Loop
    from sqlvec.plan.logical import Block


def rest_path(block: Block, builder: PathBuilder, loop: Loop, loops: tuple[Loop, ...]) -> physical.Path:
    """The path over all rows of the right table that the WHERE clause could let pass."""
    item = block.from_items[loop.position]
    request = builder.candidates.request
    scope = Scope([item], request)
    clause = Clause(scope)
    before = 0
    for other in loops:
        before |= other.bit
        if other is loop:
            break
    if not item.left_of_right:
        for condition in block.conditions:
            if condition.outer_on is None and condition.inner_on is None and not builder.scope.mask(condition.expression) & ~before:
                clause.split(condition.expression, None, None)
    left, right, label = item.left, item.right, item.left_of_right
    item.left = item.right = item.left_of_right = False
    try:
        clause.analyse()
        candidates = Candidates(clause, request, (), is_rest=True)
        candidates.add_item(0, 0)
        walk = search(candidates.loops, 1, request.outer_rows, None, 0, None)
        assert walk is not None
        return PathBuilder(candidates, -1).build(walk.loops[0], False)
    finally:
        item.left, item.right, item.left_of_right = left, right, label
