"""Generic iteration over the tree: children, descendants, and the parameters or names that a statement mentions.

Lists and the (condition, result) pairs of CASE are looked into; everything that is not a node is left out.  ``descendants`` keeps its
own stack, so depth is no matter.
"""
from __future__ import annotations

from sqlvec.parse.ast import ColumnRef, Name, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def children(node: Node) -> Iterator[Node]:
    """The direct children, ``Name`` nodes included, in the order of their place in the text."""
    found: list[Node] = []
    for field in type(node).__slots__:
        _collect(getattr(node, field, None), found)
    found.sort(key=_start)
    return iter(found)


def _start(node: Node) -> int:
    return node.span[0]


def _collect(value: Any, found: list[Node]) -> None:
    if isinstance(value, Node):
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _collect(item, found)


def descendants(node: Node) -> Iterator[Node]:
    """``node`` and everything below it, parents first, in text order."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(list(children(current))))


def names(node: Node) -> Iterator[Name]:
    """Every identifier below ``node``."""
    for found in descendants(node):
        if isinstance(found, Name):
            yield found


def column_refs(node: Node) -> Iterator[ColumnRef]:
    """Every column reference below ``node``, sub-queries included."""
    for found in descendants(node):
        if isinstance(found, ColumnRef):
            yield found
