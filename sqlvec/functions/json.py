"""The JSON functions.

Arguments that are JSON texts are parsed into trees (json_text.py) and searched by paths (json_path.py); results that are JSON carry
the subtype as :class:`~sqlvec.values.text.JsonText`.  Manual: "JSON Functions And Operators".
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.functions.json_path import MISSING, assign, find, is_root, purge, remove
from sqlvec.functions.json_text import (
    NULL,
    JsonObject,
    copy_tree,
    escape,
    parse_argument,
    render,
    to_value,
    type_name,
    value_node,
    value_text,
)
from sqlvec.values.storage import cast_to_text
from sqlvec.values.text import JsonText, until_nul

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.values.storage import Value


def _path(value: Value) -> str:
    return until_nul(value if type(value) is str else cast_to_text(value))  # type: ignore[arg-type]


def json(value: Value) -> JsonText | None:
    if value is None:
        return None
    return JsonText(render(parse_argument(value)))


def json_valid(value: Value) -> int:
    if value is None:
        return 0
    try:
        parse_argument(value)
    except errors.SqlError:
        return 0
    return 1


def json_quote(value: Value) -> JsonText:
    return JsonText(value_text(value))


def json_array(*values: Value) -> JsonText:
    return JsonText("[" + ",".join(map(value_text, values)) + "]")


def json_object(*arguments: Value) -> JsonText:
    if len(arguments) & 1:
        raise errors.json_object_arguments()
    if not all(isinstance(label, str) for label in arguments[::2]):
        raise errors.json_object_labels()
    pieces = [
        escape(label) + ":" + value_text(value)  # type: ignore[arg-type]
        for label, value in zip(arguments[::2], arguments[1::2], strict=True)
    ]
    return JsonText("{" + ",".join(pieces) + "}")


def json_extract(value: Value = None, *paths: Value) -> Value:
    """One path: the SQL value there; several: a JSON array of what they find."""
    if value is None or not paths:
        return None
    tree = parse_argument(value)
    if len(paths) == 1:
        if paths[0] is None:
            return None
        node = find(tree, _path(paths[0]))
        return None if node is MISSING else to_value(node)
    pieces = []
    for path in paths:
        node = NULL if path is None else find(tree, _path(path))
        pieces.append("null" if node is MISSING else render(node))
    return JsonText("[" + ",".join(pieces) + "]")


def _arrow_path(value: Value) -> str:
    """The right side of an arrow: a path, an array index, or a label."""
    text = _path(value)
    if text[:1] == "$":
        return text
    if "0" <= text[:1] <= "9":
        return f"$[{text}]"
    return f"${text}" if text[:1] == "[" else f"$.{text}"


def _arrow_node(value: Value, path: Value) -> Any:
    if value is None:
        return MISSING
    tree = parse_argument(value)
    return MISSING if path is None else find(tree, _arrow_path(path))


def arrow(value: Value, path: Value) -> JsonText | None:
    node = _arrow_node(value, path)
    return None if node is MISSING else JsonText(render(node))


def double_arrow(value: Value, path: Value) -> Value:
    node = _arrow_node(value, path)
    if node is MISSING:
        return None
    result = to_value(node)
    return str(result) if type(result) is JsonText else result


def json_type(value: Value, path: Value = "$") -> str | None:
    if value is None:
        return None
    tree = parse_argument(value)
    if path is None:
        return None
    node = find(tree, _path(path))
    return None if node is MISSING else type_name(node)


def json_array_length(value: Value, path: Value = "$") -> int | None:
    if value is None:
        return None
    tree = parse_argument(value)
    if path is None:
        return None
    node = find(tree, _path(path))
    if node is MISSING:
        return None
    return len(node) if type(node) is list else 0


def json_remove(value: Value = None, *paths: Value) -> Value:
    if value is None:
        return None
    tree = parse_argument(value)
    if paths:
        tree = copy_tree(tree)
    is_gone = False
    gone: list[Any] = []
    for path in paths:
        if path is None:
            return None
        text = _path(path)
        if is_root(text):
            is_gone = True
        else:
            remove(tree, text, gone)
    purge(gone)
    return None if is_gone else JsonText(render(tree))


def _edit(name: str, arguments: tuple[Value, ...], may_create: bool, may_replace: bool) -> Value:
    if not len(arguments) & 1:
        raise errors.json_odd_arguments(name)
    if arguments[0] is None:
        return None
    tree = parse_argument(arguments[0])
    if len(arguments) > 1:
        tree = copy_tree(tree)
    # A replaced root answers with the argument itself; paths lead into it no longer.
    root: Any = MISSING
    for path, value in zip(arguments[1::2], arguments[2::2], strict=True):
        if path is None:
            continue
        text = _path(path)
        if not is_root(text):
            if root is not MISSING:
                continue
            assign(tree, text, value_node(value), may_create, may_replace)
        elif may_replace:
            root = value
    return JsonText(render(tree)) if root is MISSING else root


def json_set(*arguments: Value) -> Value:
    return _edit("json_set", arguments, True, True)


def json_insert(*arguments: Value) -> Value:
    return _edit("json_insert", arguments, True, False)


def json_replace(*arguments: Value) -> Value:
    return _edit("json_replace", arguments, False, True)


def json_patch(target: Value, patch: Value) -> Value:
    if target is None:
        return None
    tree = parse_argument(target)
    if patch is None:
        return None
    return JsonText(render(_merge(copy_tree(tree), parse_argument(patch))))


def _merge(target: Any, patch: Any) -> Any:
    """RFC 7396: members of the patch replace or, when null, remove those of the target.

    Of several equal keys in the target the first counts, and once it was replaced or removed further equal keys of the patch leave
    it alone; keys that the target lacks are appended each time.
    """
    if type(patch) is not JsonObject:
        return copy_tree(patch)
    if type(target) is not JsonObject:
        return _without_nulls(copy_tree(patch))
    settled: set[int] = set()
    appended: set[int] = set()
    removed: set[int] = set()
    containers = [target]
    work = [(target, iter(patch))]
    while work:
        container, changes = work[-1]
        change = next(changes, None)
        if change is None:
            work.pop()
            continue
        key, new = change
        pair = next((pair for pair in container if pair[0] == key and id(pair) not in appended), None)
        if pair is None:
            if new is not NULL:
                container.append([key, _without_nulls(copy_tree(new))])
                appended.add(id(container[-1]))
        elif id(pair) in settled:
            continue
        elif new is NULL:
            removed.add(id(pair))
            settled.add(id(pair))
        elif type(new) is JsonObject and type(pair[1]) is JsonObject:
            containers.append(pair[1])
            work.append((pair[1], iter(new)))
        else:
            pair[1] = _without_nulls(copy_tree(new))
            settled.add(id(pair))
    if removed:
        for container in containers:
            container[:] = [pair for pair in container if id(pair) not in removed]
    return target


def _without_nulls(node: Any) -> Any:
    """Remove members that are null from nested objects (not from arrays), in place."""
    work = [node]
    while work:
        container = work.pop()
        if type(container) is JsonObject:
            container[:] = [pair for pair in container if pair[1] is not NULL]
            work.extend(pair[1] for pair in container)
    return node


class GroupArray:
    """json_group_array(x)"""

    __slots__ = ("items",)

    def __init__(self) -> None:
        self.items: list[str] = []

    def step(self, value: Value) -> None:
        self.items.append(value_text(value))

    def inverse(self, _value: Value) -> None:
        del self.items[0]

    def value(self) -> JsonText:
        return JsonText("[" + ",".join(self.items) + "]")


class GroupObject:
    """json_group_object(label, x)"""

    __slots__ = ("items",)

    def __init__(self) -> None:
        self.items: list[str] = []

    def step(self, label: Value, value: Value) -> None:
        key = "" if label is None else escape(cast_to_text(label))  # type: ignore[arg-type]
        self.items.append(key + ":" + value_text(value))

    def inverse(self, _label: Value, _value: Value) -> None:
        del self.items[0]

    def value(self) -> JsonText:
        return JsonText("{" + ",".join(self.items) + "}")
