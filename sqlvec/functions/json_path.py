"""JSON paths: ``$``, ``.key``, ``."quoted key"``, ``[N]``, ``[#]``, ``[#-N]``.

A path is checked only as far as the tree goes along with it: a step into a node of the wrong kind ends the search before the rest
is looked at, as in the original.  So a path is walked as text; only one that is
well-formed to its end is compiled into steps.  Keys compare as written, escapes included.
"""
from __future__ import annotations

import re

from sqlvec import errors
from sqlvec.functions.json_text import JsonObject, escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Missing:
    """Stands for "no such node"."""

    __slots__ = ()


MISSING = Missing()

_SIMPLE_STEP = re.compile(r"""\.(?:("[^"]*")|([^."\[][^.\[]*))|\[([0-9]+)\]""")
_simple_paths: dict[str, tuple[Any, ...] | None] = {}


def find(tree: Any, path: str) -> Any:
    """The node at a path, or MISSING."""
    if path[:1] != "$":
        raise errors.json_path_error(path)
    if path in _simple_paths:
        steps = _simple_paths[path]
    else:
        steps = _simple_steps(path)
        if len(_simple_paths) > 200:
            _simple_paths.clear()
        _simple_paths[path] = steps
    if steps is not None:
        for key in steps:
            if type(key) is int:
                if type(tree) is not list or key >= len(tree):
                    return MISSING
                tree = tree[key]
                continue
            if type(tree) is not JsonObject:
                return MISSING
            for pair in tree:
                if pair[0] == key:
                    tree = pair[1]
                    break
            else:
                return MISSING
        return tree
    position = 1
    size = len(path)
    while position < size:
        node, position, _ = _step(tree, path, position)
        if node is MISSING:
            return MISSING
        tree = node
    return tree


def trace(tree: Any, path: str) -> list[tuple[Any, Any]]:
    """The steps of a path that leads somewhere: (quoted key or index, node) each."""
    steps = []
    position = 1
    while position < len(path):
        tree, position, place = _step(tree, path, position)
        steps.append((place, tree))
    return steps


def _simple_steps(path: str) -> tuple[Any, ...] | None:
    """The steps of a path that is well-formed to its end and counts no index from the end, else None."""
    steps: list[Any] = []
    position = 1
    while position < len(path):
        found = _SIMPLE_STEP.match(path, position)
        if found is None:
            return None
        if found.lastindex == 3:
            steps.append(int(found.group(3)) & 0xFFFFFFFF)
        else:
            steps.append(found.group(1) or f'"{found.group(2)}"')
        position = found.end()
    return tuple(steps)


def _key_at(path: str, position: int) -> tuple[str, int]:
    """The key behind a dot, with quotes, and the position behind it."""
    size = len(path)
    if path[position : position + 1] == '"':
        end = path.find('"', position + 1)
        if end < 0:
            raise errors.json_path_error(path[position:])
        return path[position : end + 1], end + 1
    end = position
    while end < size and path[end] not in ".[":
        end += 1
    if end == position:
        raise errors.json_path_error(path[position:])
    return f'"{path[position:end]}"', end


def _index_at(tree: Any, path: str, position: int) -> tuple[int | None, int]:
    """The index in the brackets at ``position`` and the position behind them; None when the node ends the search."""
    end = position + 1
    size = len(path)
    index = 0
    while end < size and "0" <= path[end] <= "9":
        index = (index * 10 + ord(path[end]) - 48) & 0xFFFFFFFF
        end += 1
    if end > position + 1 and path[end : end + 1] == "]":
        return index, end + 1
    if path[position + 1 : position + 2] != "#":
        raise errors.json_path_error(path[position:])
    if type(tree) is not list:
        return None, end
    index = len(tree)
    end = position + 2
    if path[end : end + 1] == "-" and path[end + 1 : end + 2].isdigit():
        back = 0
        end += 1
        while end < size and "0" <= path[end] <= "9":
            back = (back * 10 + ord(path[end]) - 48) & 0xFFFFFFFF
            end += 1
        if back > index:
            return None, end
        index -= back
    if path[end : end + 1] != "]":
        raise errors.json_path_error(path[position:])
    return index, end + 1


def _step(tree: Any, path: str, position: int) -> tuple[Any, int, Any]:
    """One step: (node or MISSING, position behind the step, the key or index; None when the kind of node is wrong)."""
    mark = path[position]
    if mark == ".":
        if type(tree) is not JsonObject:
            return MISSING, position, None
        key, position = _key_at(path, position + 1)
        for pair in tree:
            if pair[0] == key:
                return pair[1], position, key
        return MISSING, position, key
    if mark == "[":
        index, position = _index_at(tree, path, position)
        if index is None or type(tree) is not list:
            return MISSING, position, None
        return (tree[index] if index < len(tree) else MISSING), position, index
    raise errors.json_path_error(path[position:])


def assign(tree: Any, path: str, node: Any, may_create: bool, may_replace: bool) -> None:
    """Put ``node`` at a path below the root, in place."""
    current = tree
    position = 1
    size = len(path)
    while current[0] != "given" if type(current) is tuple else True:
        found, after, place = _step(current, path, position)
        if found is MISSING:
            if place is not None and may_create:
                _create(current, place, path, after, node)
            return
        if after >= size:
            if may_replace:
                _put(current, place, node)
            return
        current, position = found, after


def _put(container: Any, place: Any, node: Any) -> None:
    if type(container) is list:
        container[place] = node
        return
    for pair in container:
        if pair[0] == place:
            pair[1] = node
            return


def _create(container: Any, place: Any, path: str, position: int, node: Any) -> None:
    """Append a new member, with the chain of containers that the rest of the path asks for."""
    if type(container) is list and place != len(container):
        return
    made = _chain(path, position, node)
    if made is MISSING:
        return
    if type(container) is list:
        container.append(made)
    else:
        container.append(_new_pair(place, made))


def _new_pair(key: str, node: Any) -> list[Any]:
    """A member with a key as a path spells it, and its JSON form when that differs."""
    form = escape(key[1:-1])
    return [key, node] if form == key else [key, node, form]


def _chain(path: str, position: int, node: Any) -> Any:
    """The containers for the rest of a path around ``node``; MISSING where neither a member nor ``[0]`` follows."""
    places = []
    size = len(path)
    while position < size:
        empty: Any
        if path[position] == ".":
            empty = JsonObject()
        elif path.startswith("[0]", position):
            empty = []
        else:
            return MISSING
        _, position, place = _step(empty, path, position)
        places.append((empty, place))
    for container, place in reversed(places):
        if type(container) is list:
            container.append(node)
        else:
            container.append(_new_pair(place, node))
        node = container
    return node


def remove(tree: Any, path: str, gone: list[tuple[Any, Any]]) -> None:
    """Remove the node at a path below the root, in place.  A member of an object stays, without its value, so that it hides later ones of the same
    key from the paths that follow; ``gone`` lists (object, member) for ``purge``."""
    current = tree
    position = 1
    size = len(path)
    while True:
        found, after, place = _step(current, path, position)
        if found is MISSING:
            return
        if after >= size:
            if type(current) is list:
                del current[place]
            else:
                for pair in current:
                    if pair[0] == place:
                        pair[1] = None
                        gone.append((current, pair))
                        break
            return
        current, position = found, after


def purge(gone: list[tuple[Any, Any]]) -> None:
    """Take the removed members out."""
    for container, member in gone:
        container[:] = [pair for pair in container if pair is not member]


def is_root(path: str) -> bool:
    """True for ``$``; a path that does not begin so is an error."""
    if path[:1] != "$":
        raise errors.json_path_error(path)
    return len(path) == 1
