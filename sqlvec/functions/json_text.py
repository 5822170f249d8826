"""JSON text: parsing, rendering, and the tree between.

Numbers and strings stay the text they were written as, so that json() can minify without changing a digit.  The tree:

* scalar: a tuple ``(kind, text)``, kind one of ``null true false integer real text``; the text of a string keeps its quotes
* array: a ``list`` of nodes
* object: a :class:`JsonObject`, a list of ``[key, node]`` pairs; a key keeps its quotes; duplicates stay

Strict RFC 8259, nesting to 2,000, text ends at a NUL.  Neither parser nor renderer recurses.  The last parsed texts are kept:
several json_extract() of one row parse once.  Trees from the cache are shared: whoever changes one copies first.
"""
from __future__ import annotations

import re

from sqlvec import errors
from sqlvec.values.numeric_text import MAX_INTEGER, MIN_INTEGER, real_prefix, real_to_text
from sqlvec.values.storage import cast_to_text
from sqlvec.values.text import JsonText, canonical, from_code_point, until_nul

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.values.storage import Value

MAX_DEPTH = 2000
_CACHE_SIZE = 8
_CACHED_LENGTH = 1000000

NULL = ("null", "null")
TRUE = ("true", "true")
FALSE = ("false", "false")
_WORDS = {"null": NULL, "true": TRUE, "false": FALSE}

_SPACE = r"[ \t\n\r]*"
_STRING = r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"'
_VALUE = re.compile(
    rf"{_SPACE}(?:({_STRING})|(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][+-]?[0-9]+)?|(\[)|(\{{)|(null|true|false)){_SPACE}"
)
_KEY = re.compile(rf"{_SPACE}({_STRING}){_SPACE}:")
_END_OF_ARRAY = re.compile(rf"{_SPACE}\]{_SPACE}")
_END_OF_OBJECT = re.compile(rf"{_SPACE}\}}{_SPACE}")


class JsonObject(list):
    """An object: ``[key, node]`` pairs in order."""

    __slots__ = ()


_parsed: dict[str, Any] = {}


def parse_argument(value: Value) -> Any:
    """The tree of a function's JSON argument (not NULL)."""
    text = value if isinstance(value, str) else cast_to_text(value)
    tree = _parsed.get(text)  # type: ignore[arg-type]
    if tree is None:
        tree = parse(until_nul(text))  # type: ignore[arg-type]
        if len(text) <= _CACHED_LENGTH:  # type: ignore[arg-type]
            if len(_parsed) >= _CACHE_SIZE:
                del _parsed[next(iter(_parsed))]
            _parsed[text] = tree  # type: ignore[index]
    return tree


def parse(text: str) -> Any:
    """The tree of a JSON text; raises ``malformed JSON``."""
    size = len(text)
    position = 0
    match = _VALUE.match
    stack: list[Any] = []
    container: Any = None
    while True:
        # Here a value must come; an object is waiting with its last pair still without one.
        found = match(text, position)
        if found is None:
            raise errors.malformed_json()
        position = found.end()
        kind = found.lastindex
        node: Any
        if kind == 1:
            node = ("text", found.group(1))
        elif kind == 2:
            node = ("integer", found.group(2))
        elif kind == 3 or kind == 4:
            node = ("real", found.group(2) + (found.group(3) or "") + (found.group(4) or ""))
        elif kind == 7:
            node = _WORDS[found.group(7)]
        else:
            node = [] if kind == 5 else JsonObject()
        if type(container) is list:
            container.append(node)
        elif container is not None:
            container[-1][1] = node
        if kind == 5 or kind == 6:
            end = (_END_OF_ARRAY if kind == 5 else _END_OF_OBJECT).match(text, position)
            if end is None:
                stack.append(container)
                container = node
                if len(stack) > MAX_DEPTH:
                    raise errors.malformed_json()
                if kind == 6:
                    position = _key(text, position, node)
                continue
            position = end.end()
        # A value is complete: what follows belongs to its container.
        while container is not None:
            mark = text[position : position + 1]
            position += 1
            if mark == ",":
                if type(container) is not list:
                    position = _key(text, position, container)
                break
            if mark != ("]" if type(container) is list else "}"):
                raise errors.malformed_json()
            position = _skip_space(text, position)
            node = container
            container = stack.pop()
        else:
            if position != size:
                raise errors.malformed_json()
            return node


def _key(text: str, position: int, container: JsonObject) -> int:
    """Read ``"key" :`` into a new pair of an object."""
    found = _KEY.match(text, position)
    if found is None:
        raise errors.malformed_json()
    container.append([found.group(1), None])
    return found.end()


def _skip_space(text: str, position: int) -> int:
    while text[position : position + 1] in (" ", "\t", "\n", "\r"):
        position += 1
    return position


# --- rendering -------------------------------------------------------------------------------------------------------------------


def render(node: Any) -> str:
    """Minimal JSON text of a tree."""
    if type(node) is tuple:
        if node[1] is None:
            raise errors.json_blob()
        return node[1]
    pieces: list[str] = []
    write = pieces.append
    stack: list[tuple[Any, Any]] = []
    current: Any = None
    while True:
        if type(node) is tuple:
            write(node[1])
        else:
            stack.append(current)
            if type(node) is list:
                write("[")
                current = [node, iter(node), True]
            else:
                write("{")
                current = [node, iter(node), True]
        # Next child of the innermost open container, closing those that are done.
        while current is not None:
            container, children, is_first = current
            child = next(children, None)
            if child is None:
                write("]" if type(container) is list else "}")
                current = stack.pop()
                continue
            if not is_first:
                write(",")
            current[2] = False
            if type(container) is list:
                node = child
            else:
                # A key that a path created renders escaped.
                write(child[0] if len(child) == 2 else child[2])
                write(":")
                node = child[1]
            break
        else:
            if None in pieces:
                raise errors.json_blob()
            return "".join(pieces)


def copy_tree(node: Any) -> Any:
    """A tree whose containers may be changed."""
    if type(node) is tuple:
        return node
    root: list[Any] = [None]
    work: list[tuple[Any, Any, Any]] = [(node, root, 0)]
    while work:
        source, target, place = work.pop()
        if type(source) is tuple:
            target[place] = source
        elif type(source) is list:
            made: Any = [None] * len(source)
            target[place] = made
            work.extend((child, made, i) for i, child in enumerate(source))
        else:
            made = JsonObject([key, None] for key, _ in source)
            target[place] = made
            work.extend((pair[1], made[i], 1) for i, pair in enumerate(source))
    return root[0]


# --- SQL values ------------------------------------------------------------------------------------------------------------------


def type_name(node: Any) -> str:
    if type(node) is tuple:
        return node[0]
    return "array" if type(node) is list else "object"


def to_value(node: Any) -> Value:
    """The SQL value of a node; containers become JSON text."""
    if type(node) is not tuple:
        return JsonText(render(node))
    kind, text = node
    if kind == "text":
        return unescape(text[1:-1])
    if kind == "integer":
        number = int(text) if len(text) < 21 else MAX_INTEGER + 1
        return number if MIN_INTEGER <= number <= MAX_INTEGER else real_prefix(text)
    if kind == "real":
        return real_prefix(text)
    if kind == "null":
        return None
    return 1 if kind == "true" else 0


_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})(?:\\u([0-9a-fA-F]{4}))?|(.))", re.DOTALL)


def unescape(body: str) -> str:
    """The text of a string's inside."""
    if "\\" not in body:
        return body
    pieces = []
    position = 0
    while True:
        start = body.find("\\", position)
        if start < 0:
            pieces.append(body[position:])
            break
        pieces.append(body[position:start])
        mark = body[start + 1]
        if mark != "u":
            pieces.append(_ESCAPES.get(mark, mark))
            position = start + 2
            continue
        point = int(body[start + 2 : start + 6], 16)
        position = start + 6
        if point == 0:
            # A NUL ends the text.
            break
        if point & 0xFC00 == 0xD800 and body[position : position + 2] == "\\u":
            low = int(body[position + 2 : position + 6], 16)
            if low & 0xFC00 == 0xDC00:
                point = 0x10000 + ((point & 0x3FF) << 10) + (low & 0x3FF)
                position += 6
        pieces.append(from_code_point(point))
    return canonical("".join(pieces))


_TO_ESCAPE = re.compile(r'["\\\x00-\x1f]')
_ESCAPED = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escape_match(found: re.Match[str]) -> str:
    character = found.group()
    return _ESCAPED.get(character) or f"\\u{ord(character):04x}"


def escape(text: str) -> str:
    """Text as a JSON string, with quotes."""
    return '"' + _TO_ESCAPE.sub(_escape_match, text) + '"'


def value_text(value: Value) -> str:
    """The JSON text of an SQL value as a function argument."""
    kind = type(value)
    if kind is JsonText:
        return value  # type: ignore[return-value]
    if kind is str:
        return escape(value)  # type: ignore[arg-type]
    if value is None:
        return "null"
    if kind is int:
        return str(value)
    if kind is float:
        return real_to_text(value)  # type: ignore[arg-type]
    raise errors.json_blob()


def value_node(value: Value) -> Any:
    """An SQL value put into a tree: opaque, paths do not lead into it.  A blob is an error only if it is rendered."""
    return ("given", None if type(value) is bytes else value_text(value))
