"""Comparison: storage-class order, exact numbers, collations, and the keys that sorting and hashing use.

Order: NULL, numbers, text, blob.  An integer and a real compare exactly (Python's own rule), text by collation, blobs by bytes.

Three forms of one order, which agree with each other:
* ``compare(a, b, collation)`` -> -1, 0, 1
* ``sort_key(value, collation)`` -> a tuple ``(rank, key)``; keys of one collation compare as the values do
* ``hash_key(value, collation)`` -> equal (and of equal hash) exactly when the values are equal; for BINARY it is the value itself,
  since Python already has ``1 == 1.0``, ``0.0 == -0.0`` and keeps text, blobs and numbers apart

Invariant: a key made before the first invalid text was seen (values/text.py) stays comparable with one made after it: keys of
valid text are plain ``str``, only invalid text becomes :class:`ByteOrdered`.
"""
from __future__ import annotations

from sqlvec.values import text as text_module
from sqlvec.values.text import UTF8, encode, is_valid, lower

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import Any

    Value = None | int | float | str | bytes

RANK = {type(None): 0, int: 1, float: 1, str: 2, bytes: 3}
NULL_KEY = (0,)


class ByteOrdered(str):
    """A text key with escaped bytes; it compares by its bytes, also against plain ``str`` keys."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return encode(self) < encode(other)

    def __le__(self, other: str) -> bool:
        return encode(self) <= encode(other)

    def __gt__(self, other: str) -> bool:
        return encode(self) > encode(other)

    def __ge__(self, other: str) -> bool:
        return encode(self) >= encode(other)

    __hash__ = str.__hash__


# --- collations ----------------------------------------------------------------------------------------------------------------


class Collation:
    """A named order of text: ``compare(a, b)`` and ``key(text)``, a comparable and hashable stand-in."""

    __slots__ = ("compare", "is_binary", "is_builtin", "key", "name")

    def __init__(
        self,
        name: str,
        compare: Callable[[str, str], int],
        key: Callable[[str], Any],
        is_binary: bool = False,
        is_builtin: bool = True,
    ) -> None:
        self.name = name
        self.compare = compare
        self.key = key
        self.is_binary = is_binary
        self.is_builtin = is_builtin

    def __repr__(self) -> str:
        return f"Collation({self.name})"


def binary_key(text: str) -> str:
    if text_module.invalid_text_seen and not is_valid(text):
        return ByteOrdered(text)
    return text


def binary_compare(left: str, right: str) -> int:
    if left == right:
        return 0
    if text_module.invalid_text_seen:
        return -1 if encode(left) < encode(right) else 1
    return -1 if left < right else 1


def nocase_key(text: str) -> str:
    """A-Z folded.  From the first NUL on the original only looks at the length, so the key does too."""
    if "\0" in text:
        start = text.index("\0")
        rest = len(encode(text[start:]))
        return binary_key(lower(text[:start]) + "\0" + chr(rest // 50000) + chr(rest % 50000))
    if text.isascii():
        return text.lower()
    return binary_key(lower(text))


def rtrim_key(text: str) -> str:
    return binary_key(text.rstrip(" "))


def _compare_keys(key: Callable[[str], str]) -> Callable[[str, str], int]:
    def compare_by_key(left: str, right: str) -> int:
        first, second = key(left), key(right)
        return 0 if first == second else -1 if first < second else 1

    return compare_by_key


BINARY = Collation("BINARY", binary_compare, binary_key, is_binary=True)
NOCASE = Collation("NOCASE", _compare_keys(nocase_key), nocase_key)
RTRIM = Collation("RTRIM", _compare_keys(rtrim_key), rtrim_key)


def _utf16_binary(encoding: int) -> Collation:
    """BINARY of a UTF-16 file compares the stored bytes."""

    def key(text: str) -> bytes:
        return encode(text, encoding)

    def compare_stored(left: str, right: str) -> int:
        first, second = encode(left, encoding), encode(right, encoding)
        return 0 if first == second else -1 if first < second else 1

    return Collation("BINARY", compare_stored, key)


def _user_key(function: Callable[[str, str], int]) -> type:
    """A key class for a user's collation: compares through the function; all keys share one hash (equality decides)."""

    class UserKey:
        __slots__ = ("text",)

        def __init__(self, text: str) -> None:
            self.text = text

        def __lt__(self, other: UserKey) -> bool:
            return function(self.text, other.text) < 0

        def __le__(self, other: UserKey) -> bool:
            return function(self.text, other.text) <= 0

        def __gt__(self, other: UserKey) -> bool:
            return function(self.text, other.text) > 0

        def __ge__(self, other: UserKey) -> bool:
            return function(self.text, other.text) >= 0

        def __eq__(self, other: object) -> bool:
            return isinstance(other, UserKey) and function(self.text, other.text) == 0

        def __hash__(self) -> int:
            return 0

    return UserKey


class Collations:
    """The collations of one connection, by name without regard to case."""

    __slots__ = ("_by_name", "_names", "encoding", "generation")

    def __init__(self, encoding: int = UTF8) -> None:
        self.encoding = encoding
        self.generation = 0
        binary = BINARY if encoding == UTF8 else _utf16_binary(encoding)
        self._by_name: dict[str, Collation] = {"binary": binary, "nocase": NOCASE, "rtrim": RTRIM}
        self._names: list[str] = ["BINARY", "NOCASE", "RTRIM"]

    def set_encoding(self, encoding: int) -> None:
        """The text encoding of the connection became known (first schema read)."""
        if encoding != self.encoding:
            self.encoding = encoding
            self.generation += 1
            if self._by_name["binary"].is_builtin:
                self._by_name["binary"] = BINARY if encoding == UTF8 else _utf16_binary(encoding)

    def lookup(self, name: str | None) -> Collation | None:
        """The collation of this name (None means BINARY), or None when there is none."""
        if name is None:
            return self._by_name["binary"]
        return self._by_name.get(name) or self._by_name.get(lower(name))

    @property
    def binary(self) -> Collation:
        return self._by_name["binary"]

    def register(self, name: str, function: Callable[[str, str], int] | None) -> None:
        """Define, replace or (with None) remove a collation."""
        folded = lower(name)
        self.generation += 1
        if function is None:
            if folded in self._by_name:
                del self._by_name[folded]
                self._names = [known for known in self._names if lower(known) != folded]
            return
        if folded not in self._by_name:
            self._names.append(name)
        self._by_name[folded] = Collation(name, function, _user_key(function), is_builtin=False)

    def register_key(self, name: str, key: Callable[[str], Any]) -> None:
        """Define a collation by its key function (the shell's ``decimal`` and ``uint``)."""
        folded = lower(name)
        self.generation += 1
        if folded not in self._by_name:
            self._names.append(name)
        self._by_name[folded] = Collation(name, _compare_keys(key), key, is_builtin=False)

    def names(self) -> list[str]:
        """All names, newest first (the order of ``PRAGMA collation_list``)."""
        return self._names[::-1]


# --- values --------------------------------------------------------------------------------------------------------------------


def compare(left: Value, right: Value, collation: Collation | None = None) -> int:
    """Total order over all values, NULL first: -1, 0 or 1."""
    kind = type(left)
    other = type(right)
    if kind is other and kind is not str and left is not None:
        return -1 if left < right else 1 if left > right else 0  # type: ignore[operator]
    if kind is other or (RANK.get(kind, 2) == RANK.get(other, 2)):
        if left is None:
            return 0
        if kind is str or isinstance(left, str):
            return (collation or BINARY).compare(left, right)  # type: ignore[arg-type]
        return -1 if left < right else 1 if left > right else 0  # type: ignore[operator]
    return -1 if RANK.get(kind, 2) < RANK.get(other, 2) else 1


def sort_key(value: Value, collation: Collation | None = None) -> tuple:
    """A Python-comparable key of the same order."""
    kind = type(value)
    if kind is int or kind is float:
        return (1, value)
    if kind is str:
        if collation is None:
            collation = BINARY
        if collation.is_binary and not text_module.invalid_text_seen:
            return (2, value)
        return (2, collation.key(value))  # type: ignore[arg-type]
    if value is None:
        return NULL_KEY
    if kind is bytes:
        return (3, value)
    return (2, (collation or BINARY).key(value))  # type: ignore[arg-type]


def hash_key(value: Value, collation: Collation | None = None) -> Hashable:
    """A key for dicts and sets: equal exactly when the values are equal under the collation."""
    if collation is None or collation.is_binary or not isinstance(value, str):
        return value
    return (collation.key(value),)


class Descending:
    """Turns a sort key around, for keys that cannot be negated (text, mixed classes)."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def __lt__(self, other: Descending) -> bool:
        return other.key < self.key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Descending) and self.key == other.key

    __hash__ = None  # type: ignore[assignment]
