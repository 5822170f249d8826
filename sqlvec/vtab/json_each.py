"""json_each and json_tree: table-valued functions over the members of a JSON value.

Nodes have numbers: the root is 0, and each node takes the next number in reading order; an object's label takes one before its
value does.  ``json_each`` lists the children of the node at the root path, ``json_tree`` that node and everything below it.
Columns: key, value, type, atom, id, parent, fullkey, path and the hidden arguments json, root.

Manual: "JSON Functions And Operators", section "The json_each() and json_tree() table-valued functions".
"""
from __future__ import annotations

from sqlvec.functions.json_path import MISSING, find, trace
from sqlvec.functions.json_text import JsonObject, parse_argument, to_value, type_name, unescape
from sqlvec.values.storage import cast_to_text
from sqlvec.values.text import until_nul
from sqlvec.vtab.api import Choice, Constraint, Module, VirtualTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.values.storage import Value

COLUMNS = (
    ("key", "", False),
    ("value", "", False),
    ("type", "", False),
    ("atom", "", False),
    ("id", "", False),
    ("parent", "", False),
    ("fullkey", "", False),
    ("path", "", False),
    ("json", "", True),
    ("root", "", True),
)
_JSON, _ROOT = 8, 9


class Place:
    """Where a node stands in its tree."""

    __slots__ = ("key", "node", "number", "parent")

    def __init__(self, node: Any, number: int, parent: Place | None, key: Any) -> None:
        self.node = node
        self.number = number
        self.parent = parent
        self.key = key

    def fullkey(self) -> str:
        """The path to a root that json_tree() was given.  As in the original, an index on the way prints as 0."""
        steps = []
        place: Place | None = self
        while place is not None and place.parent is not None:
            steps.append(_step_text(place.key if type(place.key) is str else 0))
            place = place.parent
        steps.append("$")
        return "".join(reversed(steps))


def _step_text(key: Any) -> str:
    """A path step; labels that are no plain word keep their quotes."""
    if type(key) is int:
        return f"[{key}]"
    inside = key[1:-1]
    if inside and inside.isascii() and inside.isalnum() and inside[0].isalpha():
        return "." + inside
    return "." + key


def walk(tree: Any) -> Iterator[Place]:
    """All nodes in reading order, numbered; not recursive."""
    number = 0
    stack: list[tuple[Any, Place | None, Any]] = [(tree, None, None)]
    while stack:
        node, parent, key = stack.pop()
        if type(key) is str:
            number += 1
        place = Place(node, number, parent, key)
        number += 1
        yield place
        if type(node) is list:
            stack.extend((child, place, i) for i, child in reversed(list(enumerate(node))))
        elif type(node) is JsonObject:
            stack.extend((pair[1], place, pair[0]) for pair in reversed(node))


def _key_value(key: Any) -> Value:
    return unescape(key[1:-1]) if type(key) is str else key


class JsonEach(VirtualTable):
    """The table behind both functions."""

    columns = COLUMNS
    is_recursive = False

    def best_index(self, constraints: list[Constraint], order: list[tuple[int, bool]], used: frozenset[int]) -> Choice | None:
        """Both arguments come as equality constraints on the hidden columns; a root without usable JSON can't be served."""
        chosen: dict[int, int] = {}
        unusable = set()
        for number, constraint in enumerate(constraints):
            if constraint.column not in (_JSON, _ROOT) or constraint.operator != "=":
                continue
            if constraint.usable:
                chosen[constraint.column] = number
            else:
                unusable.add(constraint.column)
        if unusable - set(chosen):
            return None
        if _JSON not in chosen:
            return Choice(0, None)
        arguments = (chosen[_JSON],) if _ROOT not in chosen else (chosen[_JSON], chosen[_ROOT])
        number = 1 if _ROOT not in chosen else 3
        return Choice(number, None, arguments, frozenset(arguments), cost=1.0)

    def open(self, choice: Choice, arguments: tuple[Any, ...], context: Any) -> Iterator[tuple[int, tuple[Any, ...]]]:
        if not choice.number:
            return
        yield from enumerate(self.rows(*arguments))

    def rows(self, json: Value, root: Value = "$") -> Iterator[tuple[Value, ...]]:
        """The rows for the arguments of the function."""
        if json is None:
            return
        tree = parse_argument(json)
        if root is None:
            return
        path = until_nul(cast_to_text(root))  # type: ignore[arg-type]
        node = find(tree, path)
        if node is MISSING:
            return
        hidden = (until_nul(cast_to_text(json)), path)  # type: ignore[arg-type]
        if self.is_recursive:
            yield from self._tree_rows(tree, path, node, hidden)
        else:
            yield from self._child_rows(tree, path, node, hidden)

    def _child_rows(self, tree: Any, path: str, node: Any, hidden: tuple[Value, ...]) -> Iterator[tuple[Value, ...]]:
        start = _find_place(tree, path)
        if type(node) is tuple:
            value = to_value(node)
            yield (None, value, node[0], value, start.number, None, path, path, *hidden)
            return
        number = start.number + 1
        for position, item in enumerate(node):
            if type(node) is list:
                key, child = position, item
            else:
                key, child = item[0], item[1]
                number += 1
            value = to_value(child)
            atom = value if type(child) is tuple else None
            yield (_key_value(key), value, type_name(child), atom, number, None, path + _step_text(key), path, *hidden)
            number += size(child)

    def _tree_rows(self, tree: Any, path: str, node: Any, hidden: tuple[Value, ...]) -> Iterator[tuple[Value, ...]]:
        start = _find_place(tree, path)
        end = start.number + size(node)
        fullkeys: dict[int, str] = {start.number: start.fullkey()}
        for place in walk(tree):
            if place.number < start.number:
                continue
            if place.number >= end:
                return
            parent = place.parent
            is_start = place.number == start.number
            if is_start:
                fullkey = fullkeys[start.number]
                parent_path = "$" if start.parent is None else start.parent.fullkey()
            else:
                parent_path = fullkeys[parent.number]  # type: ignore[union-attr]
                fullkey = parent_path + _step_text(place.key)
            value = to_value(place.node)
            is_scalar = type(place.node) is tuple
            if not is_scalar:
                fullkeys[place.number] = fullkey
            key = _key_value(place.key)
            if is_start and (is_scalar or type(key) is int):
                key = None
            yield (
                key,
                value,
                type_name(place.node),
                value if is_scalar else None,
                place.number,
                None if is_start else parent.number,  # type: ignore[union-attr]
                fullkey,
                parent_path,
                *hidden,
            )


def size(node: Any) -> int:
    """How many numbers a node and everything below it take."""
    if type(node) is tuple:
        return 1
    total = 0
    work = [node]
    while work:
        item = work.pop()
        total += 1
        if type(item) is list:
            work.extend(item)
        elif type(item) is JsonObject:
            total += len(item)
            work.extend(pair[1] for pair in item)
    return total


def _find_place(tree: Any, path: str) -> Place:
    """The place at the end of a path that leads somewhere, with its number and parents."""
    place = Place(tree, 0, None, None)
    for key, node in trace(tree, path):
        container = place.node
        number = place.number + 1
        if type(container) is list:
            number += sum(map(size, container[:key]))
        else:
            for label, child in container:
                if label == key:
                    break
                number += 1 + size(child)
            number += 1
        place = Place(node, number, place, key)
    return place


class JsonTree(JsonEach):
    is_recursive = True


class JsonEachModule(Module):
    """json_each"""

    eponymous = True
    eponymous_only = True

    def connect(self, context: Any, database: str, table: str, arguments: tuple[str, ...], is_new: bool) -> VirtualTable:
        return JsonEach()


class JsonTreeModule(Module):
    """json_tree"""

    eponymous = True
    eponymous_only = True

    def connect(self, context: Any, database: str, table: str, arguments: tuple[str, ...], is_new: bool) -> VirtualTable:
        return JsonTree()
