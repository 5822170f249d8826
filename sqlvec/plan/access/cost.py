"""Logarithmic estimates: SQLite's LogEst, an integer near 10*log2(x), in which all costs and row counts of the planner are kept.

Multiplication is addition, addition is :func:`add`.  Follows "The Next-Generation Query Planner" of the manual.
"""
from __future__ import annotations

from sqlvec.schema.objects import log_estimate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.expr.bound import Expression
    from sqlvec.plan.logical import Block
    from sqlvec.schema.objects import Index, Table

_SUM = (10, 10, 9, 9, 8, 8, 7, 7, 7, 6, 6, 6, 5, 5, 5, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2)

DEFAULT_ROWS = 200
DEFAULT_SELECT_ROWS = 320


def add(left: int, right: int) -> int:
    """LogEst of the sum of two numbers given as LogEst."""
    if left < right:
        left, right = right, left
    distance = left - right
    if distance > 49:
        return left
    if distance > 31:
        return left + 1
    return left + _SUM[distance]


def seek_cost(rows: int) -> int:
    """Cost of finding one entry in a tree of ``rows`` (LogEst) entries."""
    return 0 if rows <= 10 else log_estimate(rows) - 33


def from_probability(probability: float) -> int:
    """The (negative) LogEst of a likelihood() hint."""
    return log_estimate(int(probability * 134217728)) - 270


def table_row_size(table: Table) -> int:
    """LogEst of a table's row width (the schema computes it; virtual tables and views get 1)."""
    return table.row_size


def literal_limit(limit: Expression | None) -> int | None:
    """The LogEst of a LIMIT that is a non-negative integer literal, else None."""
    value = getattr(limit, "value", None)
    if type(value) is int and value >= 0 and type(limit).__name__ == "Literal":
        return log_estimate(value)
    return None


def block_rows(block: Block, rows: int) -> int:
    """Row estimate of a whole SELECT core whose loops deliver ``rows``."""
    limit = literal_limit(block.limit)
    if block.is_aggregate and block.group_by is None:
        return 0
    start = DEFAULT_SELECT_ROWS if limit is None else min(DEFAULT_SELECT_ROWS, limit)
    if block.group_by is not None:
        return min(start, 66)
    return min(start, rows)


def index_rows(index: Index, matched: int) -> int:
    """Rows per distinct value of the first ``matched`` key columns."""
    return index.row_estimates[matched]
