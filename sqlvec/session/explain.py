"""EXPLAIN and EXPLAIN QUERY PLAN.

EXPLAIN QUERY PLAN answers as SQLite does.  EXPLAIN, which in SQLite lists byte code of its virtual machine, has no counterpart here: it lists the
physical plan in the same eight columns, one operator a row (``addr`` = depth-first number, ``opcode`` = node name, ``p1`` = depth).
"""
from __future__ import annotations

from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.session.statement import Statement

NAMES = {
    "QUERY PLAN": ("id", "parent", "notused", "detail"),
    "EXPLAIN": ("addr", "opcode", "p1", "p2", "p3", "p4", "p5", "comment"),
}


def rows(statement: Statement) -> list[tuple[Any, ...]]:
    """All rows of the explanation."""
    if statement.is_command:
        return []
    if statement.explain == "QUERY PLAN":
        return list(resolve("sqlvec.plan.explain_query_plan:explain")(statement.plan))
    found: list[tuple[Any, ...]] = []
    _list_nodes(statement.plan.root, 0, found)
    for subquery in statement.plan.subqueries:
        if subquery.plan is not None:
            _list_nodes(subquery.plan, 0, found)
    return found


def _list_nodes(node: Any, depth: int, found: list[tuple[Any, ...]]) -> None:
    found.append((len(found), type(node).__name__, depth, len(node.columns), node.rows, None, 0, None))
    for child in node.inputs():
        _list_nodes(child, depth + 1, found)
