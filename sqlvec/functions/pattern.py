"""LIKE and GLOB: a pattern is compiled once into a matcher ``text -> bool``.

A pattern is cut at its ``%`` (``*``) into segments of elements that match one character each: a literal, any character, a set.
Since every segment has a fixed length, the first one is anchored at the start, the last one at the end, and those between are
found leftmost: linear, no backtracking.  Segments of literals alone, nearly all in practice, use ``str`` methods; others become
small regular expressions.

LIKE folds ASCII letters only.  Both operators see text up to the first NUL and answer 0 when an operand is a blob.
Manual: "The LIKE, GLOB, REGEXP, MATCH, and extract operators".
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.resolve import resolve
from sqlvec.values import text as text_module
from sqlvec.values.storage import cast_to_text
from sqlvec.values.text import encode, lower, readable, until_nul

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlvec.values.storage import Value

    Matcher = Callable[[str], bool]

MAX_PATTERN_BYTES = 50000
_CACHE_SIZE = 256

# "No ESCAPE clause": no value of SQL.
ABSENT = ()

_like_cache: dict[Any, Matcher] = {}
_glob_cache: dict[str, Matcher] = {}
# The part of the LIKE cache that needs no ESCAPE and folds case, by pattern alone.
_plain_cache: dict[Any, Matcher] = {}

# Elements that are no literal character.
_ANY = 0


# --- the SQL functions -----------------------------------------------------------------------------------------------------------


def like(pattern: Value, value: Value, escape: Any = ABSENT) -> int | None:
    """like(P, X [, E]): X LIKE P ESCAPE E."""
    if type(value) is str and escape is ABSENT and not text_module.invalid_text_seen:
        matcher = _plain_cache.get(pattern)
        if matcher is not None:
            return 1 if matcher(value) else 0
    return _like(pattern, value, escape, False)


def like_case_sensitive(pattern: Value, value: Value, escape: Any = ABSENT) -> int | None:
    """like() under PRAGMA case_sensitive_like."""
    return _like(pattern, value, escape, True)


def _like(pattern: Value, value: Value, escape: Any, is_sensitive: bool) -> int | None:
    if type(pattern) is not str:
        if type(pattern) is bytes or type(value) is bytes:
            return 0
        if pattern is None:
            if escape is not ABSENT and escape is not None:
                escape_character(escape)
            return None
        pattern = cast_to_text(pattern)
    elif type(value) is bytes:
        return 0
    matcher = _like_cache.get((pattern, escape, is_sensitive))
    if matcher is None:
        check_length(pattern)  # type: ignore[arg-type]
        if escape is None:
            return None
        matcher = compile_like(pattern, escape, is_sensitive)  # type: ignore[arg-type]
    if value is None:
        return None
    text = value if type(value) is str else cast_to_text(value)
    return 1 if matcher(readable(text)) else 0  # type: ignore[arg-type]


def glob(pattern: Value, value: Value) -> int | None:
    """glob(P, X): X GLOB P."""
    if type(pattern) is bytes or type(value) is bytes:
        return 0
    if pattern is None:
        return None
    template: str = pattern if type(pattern) is str else cast_to_text(pattern)  # type: ignore[assignment]
    matcher = _glob_cache.get(template)
    if matcher is None:
        check_length(template)
        matcher = compile_glob(template)
    if value is None:
        return None
    text = value if type(value) is str else cast_to_text(value)
    return 1 if matcher(readable(text)) else 0  # type: ignore[arg-type]


def check_length(pattern: str) -> None:
    if len(pattern) > MAX_PATTERN_BYTES // 4 and len(encode(pattern)) > MAX_PATTERN_BYTES:
        raise errors.pattern_too_complex()


def escape_character(escape: Value) -> str:
    """The checked single character of an ESCAPE operand."""
    text = cast_to_text(escape) or ""
    if text_module.length(text) != 1:
        raise errors.escape_not_single()
    return text[0]


# --- compiling -------------------------------------------------------------------------------------------------------------------


def compile_like(pattern: str, escape: Any = ABSENT, is_sensitive: bool = False) -> Matcher:
    """The matcher of a LIKE pattern; kept in a cache."""
    key = (pattern, escape, is_sensitive)
    found = _like_cache.get(key)
    if found is None:
        mark = escape_character(escape) if escape is not ABSENT else ""
        segments = _like_segments(readable(until_nul(pattern)), mark, is_sensitive)
        found = _never if segments is None else _matcher(segments, not is_sensitive)
        if len(_like_cache) >= _CACHE_SIZE:
            _like_cache.clear()
            _plain_cache.clear()
        _like_cache[key] = found
        if escape is ABSENT and not is_sensitive:
            _plain_cache[pattern] = found
    return found


def compile_glob(pattern: str) -> Matcher:
    """The matcher of a GLOB pattern; kept in a cache."""
    found = _glob_cache.get(pattern)
    if found is None:
        segments = _glob_segments(readable(until_nul(pattern)))
        found = _never if segments is None else _matcher(segments, False)
        if len(_glob_cache) >= _CACHE_SIZE:
            _glob_cache.clear()
        _glob_cache[pattern] = found
    return found


def _like_segments(pattern: str, escape: str, is_sensitive: bool) -> list[list[Any]] | None:
    """Segments of a LIKE pattern; None when it can match nothing (the escape character at its end)."""
    segments: list[list[Any]] = [[]]
    is_escaped = False
    for character in pattern:
        if is_escaped:
            segments[-1].append(character if is_sensitive else lower(character))
            is_escaped = False
        elif character == escape:
            is_escaped = True
        elif character == "%":
            segments.append([])
        elif character == "_":
            segments[-1].append(_ANY)
        else:
            segments[-1].append(character if is_sensitive else lower(character))
    return None if is_escaped else segments


def _glob_segments(pattern: str) -> list[list[Any]] | None:
    """Segments of a GLOB pattern; None when a set is not closed."""
    segments: list[list[Any]] = [[]]
    position = 0
    while position < len(pattern):
        character = pattern[position]
        position += 1
        if character == "*":
            segments.append([])
        elif character == "?":
            segments[-1].append(_ANY)
        elif character == "[":
            element, position = _set_element(pattern, position)
            if element is None:
                return None
            segments[-1].append(element)
        else:
            segments[-1].append(character)
    return segments


def _set_element(pattern: str, position: int) -> tuple[tuple[bool, list[tuple[str, str]]] | None, int]:
    """Parse a set behind its ``[``: (is negated, ranges) and the position behind ``]``."""
    size = len(pattern)
    is_negated = position < size and pattern[position] == "^"
    if is_negated:
        position += 1
    ranges: list[tuple[str, str]] = []
    if position < size and pattern[position] == "]":
        ranges.append(("]", "]"))
        position += 1
    previous = ""
    while position < size and pattern[position] != "]":
        character = pattern[position]
        if character == "-" and previous and position + 1 < size and pattern[position + 1] != "]":
            ranges.append((previous, pattern[position + 1]))
            position += 1
            previous = ""
        else:
            ranges.append((character, character))
            previous = character
        position += 1
    if position >= size:
        return None, position
    return (is_negated, ranges), position + 1


def _never(_text: str) -> bool:
    return False


def _matcher(segments: list[list[Any]], is_folded: bool) -> Matcher:
    if all(type(element) is str for segment in segments for element in segment):
        return _literal_matcher(["".join(segment) for segment in segments], is_folded)
    return _general_matcher(segments, is_folded)


def _literal_matcher(parts: list[str], is_folded: bool) -> Matcher:
    """Literals only between the wildcards."""
    first, last = parts[0], parts[-1]
    middle = [part for part in parts[1:-1] if part]
    # A pattern without letters is the same in both cases.
    is_folded = is_folded and any(part.upper() != part for part in parts)
    if first and not last and not middle and len(parts) > 1:
        return _prefix_matcher(first, is_folded)
    if len(parts) == 1:

        def test(text: str) -> bool:
            return text == first

    elif middle and not first and not last and len(middle) == 1:
        only = middle[0]

        def test(text: str) -> bool:
            return only in text

    elif middle:
        least = sum(map(len, parts))

        def test(text: str) -> bool:
            if len(text) < least or not text.startswith(first) or not text.endswith(last):
                return False
            position = len(first)
            end = len(text) - len(last)
            for part in middle:
                found = text.find(part, position, end)
                if found < 0:
                    return False
                position = found + len(part)
            return True

    elif not first:

        def test(text: str) -> bool:
            return text.endswith(last)

    else:
        least = len(first) + len(last)

        def test(text: str) -> bool:
            return len(text) >= least and text.startswith(first) and text.endswith(last)

    return _prepared(test, is_folded)


def _prefix_matcher(prefix: str, is_folded: bool) -> Matcher:
    """``abc%``: only the head of the text is looked at (a NUL in it can't be equal to anything)."""
    size = len(prefix)
    if not is_folded:
        return lambda text: text.startswith(prefix)

    def match_head(text: str) -> bool:
        head = text[:size]
        return (head.lower() if head.isascii() else lower(head)) == prefix

    return match_head


def _prepared(test: Matcher, is_folded: bool) -> Matcher:
    """Cut the text at NUL and fold it before the test."""
    if not is_folded:

        def match_exact(text: str) -> bool:
            return test(text[: text.index("\0")] if "\0" in text else text)

        return match_exact

    def match_folded(text: str) -> bool:
        if "\0" in text:
            text = text[: text.index("\0")]
        return test(text.lower() if text.isascii() else lower(text))

    return match_folded


def _general_matcher(segments: list[list[Any]], is_folded: bool) -> Matcher:
    """Segments as regular expressions of fixed length."""
    make = resolve("re:compile")
    flags = resolve("re:DOTALL")
    expressions = [make(_expression(segment), flags) for segment in segments]
    first = expressions[0].match
    first_size = len(segments[0])
    last_size = len(segments[-1])
    if len(segments) == 1:
        whole = expressions[0].fullmatch
        return _prepared(lambda text: len(text) == first_size and whole(text) is not None, is_folded)
    last = expressions[-1].match
    middle = [(expressions[i].search, len(segments[i])) for i in range(1, len(segments) - 1) if segments[i]]
    least = sum(map(len, segments))

    def test(text: str) -> bool:
        size = len(text)
        if size < least or first(text) is None or last(text, size - last_size) is None:
            return False
        position = first_size
        end = size - last_size
        for search, length in middle:
            found = search(text, position, end)
            if found is None:
                return False
            position = found.start() + length
        return True

    return _prepared(test, is_folded)


def _expression(segment: list[Any]) -> str:
    """A segment as the source of a regular expression."""
    pieces = []
    for element in segment:
        if element == _ANY:
            pieces.append(".")
        elif type(element) is str:
            pieces.append(_escaped(element))
        else:
            is_negated, ranges = element
            body = "".join(_escaped(low) + "-" + _escaped(high) for low, high in ranges if low <= high)
            pieces.append(f"[{'^' if is_negated else ''}{body}]")
    return "".join(pieces)


def _escaped(character: str) -> str:
    return f"\\U{ord(character):08x}"
