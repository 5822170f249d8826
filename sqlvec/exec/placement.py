"""Which parts of a plan run on the vector engine: decided before numpy is imported.

The plan is walked from its root; the first subtree on each way down that is eligible (exec/vector/eligibility.py) and reads enough rows becomes a
:class:`VectorInput`, the bridge node that row operators above read like any other.  FROM sub-queries and uncorrelated sub-queries in expressions are
looked at in the same way.

Break-even: importing numpy and the vector rooms costs some 180 ms of processor time once per process, so the row engine must need more than that by
the survey's estimate of microseconds a row; with numpy loaded, a thousand rows or two pay for the set-up of a vector plan.

``PRAGMA sqlvec_engine``: ``auto`` decides as described; ``vector`` (and the testing entries ``declining``, ``restarting``, ``one_page`` and
``vector-strict``) places whatever is eligible.
"""
from __future__ import annotations

import sys

from sqlvec.exec.bridge import VectorInput
from sqlvec.exec.program import Activation, program_of
from sqlvec.plan import physical
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.exec.context import RunContext
    from sqlvec.plan.physical import Node, Plan

COLD_MICROSECONDS = 200_000
WARM_ROWS = 2_000
_CACHE_LIMIT = 200

_placed: dict[Any, tuple[Any, Any]] = {}


def place(plan: Plan, context: RunContext) -> Iterator[tuple[Any, ...]] | None:
    """The rows of a plan some of which runs vectorised, or None: nothing in it does."""
    root = placed_root(plan, context)
    if root is None:
        return None
    return program_of(root).rows(Activation(context))


def placed_root(plan: Plan, context: RunContext) -> Node | None:
    """The root with bridges, or None.  Remembered per plan and engine setting: the sizes of trees are looked at once."""
    key = (id(plan), context.settings.engine)
    found = _placed.get(key)
    if found is not None and found[0] is plan:
        return found[1]  # type: ignore[no-any-return]
    placement = Placement(context)
    root = placement.whole(plan)
    if placement.count and not placement.is_warm:
        placement.is_warm = True                   # what one part pays for, the others have for nothing
        root = placement.whole(plan)
    made = root if placement.count else None
    if len(_placed) >= _CACHE_LIMIT:
        _placed.clear()
    _placed[key] = (plan, made)
    return made


def is_numpy_loaded() -> bool:
    return "numpy" in sys.modules


class Placement:
    """Walks one plan; ``count`` bridges were made."""

    def __init__(self, context: RunContext) -> None:
        self.context = context
        self.forced = context.settings.engine != "auto"
        self.survey = resolve("sqlvec.exec.vector.eligibility:survey")
        self.is_warm = is_numpy_loaded()
        self.count = 0

    def whole(self, plan: Plan) -> Any:
        """The placed root of a plan; its uncorrelated sub-queries are placed where they are."""
        root = self.node(plan.root)
        for subquery in plan.subqueries:
            if not subquery.outer and subquery.plan is not None:
                subquery.plan = self.node(subquery.plan)
        return root

    def node(self, node: Any) -> Any:
        """``node``, or a copy with bridges in it, or the bridge that replaces it."""
        if isinstance(node, VectorInput):
            self.count += 1
            return node
        found = self.survey(node, self.context)
        if found is not None:
            if self.is_worthwhile(found):
                self.count += 1
                return VectorInput(node)
            if not isinstance(node, physical.Limit):
                return node                        # its parts aren't any bigger
        return self.inside(node)

    def is_worthwhile(self, found: Any) -> bool:
        if self.forced:
            return found.rows > 0
        if found.has_limit:
            return False
        if self.is_warm:
            return bool(found.rows >= WARM_ROWS)
        return bool(found.rows * found.cost >= COLD_MICROSECONDS)

    def inside(self, node: Any) -> Any:
        """The same node over placed inputs."""
        changes: dict[str, Any] = {}
        for name in type(node).INPUTS:
            below = getattr(node, name)
            if below is not None:
                placed = self.node(below)
                if placed is not below:
                    changes[name] = placed
        if isinstance(node, physical.UnionAll):
            arms = tuple(self.node(arm) for arm in node.arms)
            if any(a is not b for a, b in zip(arms, node.arms, strict=True)):
                changes["arms"] = arms
        if isinstance(node, physical.Join):
            levels = tuple(self.level(level) for level in node.levels)
            if any(a is not b for a, b in zip(levels, node.levels, strict=True)):
                changes["levels"] = levels
        return _copied(node, changes) if changes else node

    def level(self, level: Any) -> Any:
        path = level.path
        if isinstance(path, physical.AutomaticIndex):
            inner = self.query(path.input)
            placed = path if inner is path.input else _copied(path, {"input": inner})
        else:
            placed = self.query(path)
        return level if placed is path else _copied(level, {"path": placed})

    def query(self, path: Any) -> Any:
        """A FROM sub-query over its placed plan."""
        if not isinstance(path, physical.QueryScan) or path.outer:
            return path
        plan = self.node(path.plan)
        return path if plan is path.plan else _copied(path, {"plan": plan})


def _copied(thing: Any, changes: dict[str, Any]) -> Any:
    """A copy of a plan object with some fields changed."""
    made = object.__new__(type(thing))
    for cls in type(thing).__mro__:
        for name in getattr(cls, "__slots__", ()):
            if hasattr(thing, name):
                setattr(made, name, getattr(thing, name))
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def tree_rows(path: Any, context: RunContext) -> int:
    """About how many rows the tree behind a path has."""
    return resolve("sqlvec.exec.vector.eligibility:tree_rows")(path, context)  # type: ignore[no-any-return]
