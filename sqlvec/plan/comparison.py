"""Affinity and collation of comparisons: decided once, here, when a comparison is bound.

Rules
1. If both operands have an affinity and either is numeric, NUMERIC is applied to both; if only one has an affinity, that one is applied.
2. The collation is the explicit COLLATE of the left, then of the right operand, then that of the left, then of the right column, else BINARY.

Follows "Datatypes In SQLite", sections on comparison and collation, of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import Compare, Expression
from sqlvec.values.affinity import BLOB, NUMERIC, TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BINARY = "BINARY"


def applied_affinity(left: Any, right: Any) -> Any:
    """What is applied to both operands of a comparison: NUMERIC, TEXT or None."""
    if left is not None and right is not None:
        return NUMERIC if left >= NUMERIC or right >= NUMERIC else None
    one = left if left is not None else right
    return simple_affinity(one)


def simple_affinity(affinity: Any) -> Any:
    """The affinity as a comparison applies it: all numeric ones alike, BLOB as none."""
    if affinity is None or affinity == BLOB:
        return None
    return NUMERIC if affinity >= NUMERIC else TEXT


def pair_collation(left: Expression, right: Expression) -> str:
    """The collation with which two operands are compared."""
    if left.explicit:
        return left.collation or BINARY
    if right.explicit:
        return right.collation or BINARY
    return left.collation or right.collation or BINARY


def compare(operator: str, left: Expression, right: Expression) -> Compare:
    """``left operator right`` with its affinity and collation."""
    return inherit(Compare(operator, left, right, applied_affinity(left.affinity, right.affinity), pair_collation(left, right)), left, right)


def inherit(node: Any, *operands: Expression) -> Any:
    """Give a new node the collation of the left-most operand with an explicit COLLATE inside."""
    for operand in operands:
        if operand.explicit:
            node.collation = operand.collation
            node.explicit = True
            break
    return node
