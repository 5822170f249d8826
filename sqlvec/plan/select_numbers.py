"""SELECT numbers: EXPLAIN QUERY PLAN prints them for sub-queries.

They count SELECT cores in the order in which their text ends: inner ones before the ones around them.  Each row of VALUES and each parenthesised join
counts as one.  ORDER BY and LIMIT belong to the last core of their query.
"""
from __future__ import annotations

from sqlvec.parse import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.plan.scope import Binding


def number_selects(statement: ast.Node, binding: Binding) -> None:
    """Fill ``binding.numbers`` for all cores of a statement and set the counter behind them."""
    found: list[tuple[int, int, ast.Node]] = []
    right_arms: set[int] = set()
    _collect(statement, found, right_arms)
    found.sort(key=lambda entry: (entry[0], -entry[1]))
    number = 1
    for _, _, node in found:
        if isinstance(node, ast.Values):
            number += len(node.rows)
            binding.numbers[id(node)] = number - 1
            if id(node) in right_arms and len(node.rows) > 1:
                number += 1                     # SELECT * FROM (VALUES ...)
        else:
            binding.numbers[id(node)] = number
            number += 1
    binding.statement.next_number = number


def _collect(node: object, found: list[tuple[int, int, ast.Node]], right_arms: set[int]) -> None:
    stack = [node]
    ends: dict[int, int] = {}
    while stack:
        value = stack.pop()
        if isinstance(value, (list, tuple)):
            stack.extend(value)
        elif isinstance(value, ast.Node):
            if isinstance(value, ast.Compound):
                right_arms.update(id(core) for core in value.cores[1:])
            if isinstance(value, ast.Select):
                last = value.body.cores[-1] if isinstance(value.body, ast.Compound) else value.body
                ends[id(last)] = value.span[1]
            if isinstance(value, (ast.SelectCore, ast.Values, ast.ParenthesisedJoin, ast.InTable)):
                found.append((ends.get(id(value), value.span[1]), value.span[0], value))
            stack.extend(getattr(value, field, None) for field in type(value).__slots__)
