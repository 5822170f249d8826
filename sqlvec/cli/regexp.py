r"""The REGEXP operator of the shell, and regexpi(): regular expressions of a small, fixed language.

    X* X+ X? X{p,q} (X) X|Y ^X X$ . [set] [^set] \c (a special character) \f \n \r \t \v \uXXXX \xXX \b \w \W \d \D \s \S

A pattern is checked and translated into the language of Python's ``re``, whose answer to "does it match somewhere" is the same.
``^`` means the start wherever it stands, ``$`` the end only as the last character.  Compiled patterns are kept.

Follows the description of the regexp.c extension.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.cli.output import decode
from sqlvec.cli.shell import text_of
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_compiled: dict[tuple[str, bool], Any] = {}
_SPACE = r"[ \t\n\v\f\r]"
_CLASSES = {"b": r"\b", "w": "[0-9A-Za-z_]", "W": "[^0-9A-Za-z_]", "d": "[0-9]", "D": "[^0-9]", "s": _SPACE, "S": "[^" + _SPACE[1:]}
_ESCAPES = {"f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_SPECIAL = "\\()*.+?[$^{|}]"


def regexp(pattern: Any, subject: Any) -> int | None:
    return _search(pattern, subject, False)


def regexpi(pattern: Any, subject: Any) -> int | None:
    return _search(pattern, subject, True)


def _search(pattern: Any, subject: Any, ignore_case: bool) -> int | None:
    if pattern is None:
        return None
    key = (_text(pattern), ignore_case)
    program = _compiled.get(key)
    if program is None:
        flags = "(?asi)" if ignore_case else "(?as)"
        program = _compiled[key] = resolve("re:compile")(flags + _Translator(key[0]).translate())
    if subject is None:
        return None
    return int(program.search(_text(subject)) is not None)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value.partition("\0")[0]
    return decode(value).partition("\0")[0] if isinstance(value, bytes) else text_of(value)


class _Translator:
    """A recursive-descent reader of the pattern that writes the other language."""

    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.position = 0

    def peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def translate(self) -> str:
        body = self.alternatives()
        if self.position < len(self.text):
            raise errors.plain("unrecognized character")
        return body

    def alternatives(self) -> str:
        pieces = [self.sequence()]
        while self.peek() == "|":
            self.position += 1
            pieces.append(self.sequence())
        return "|".join(pieces)

    def sequence(self) -> str:
        pieces: list[str] = []
        previous = ""  # what a repetition applies to
        while True:
            char = self.peek()
            if char == "" or char == "|" or char == ")":
                return "".join(pieces)
            self.position += 1
            if char == "(":
                inner = self.alternatives()
                if self.peek() != ")":
                    raise errors.plain("unmatched '('")
                self.position += 1
                previous = f"(?:{inner})"
            elif char == ".":
                previous = "."
            elif char in "*+?":
                if not previous:
                    raise errors.plain(f"'{char}' without operand")
                pieces.pop()
                previous = f"(?:{previous}){char}"
            elif char == "^":
                previous = "\\A"
            elif char == "$" and self.position == len(self.text):
                previous = "\\Z"
            elif char == "{":
                bounds = self.repetition(previous)
                pieces.pop()
                previous = f"(?:{previous}){bounds}"
            elif char == "[":
                previous = self.set()
            elif char == "\\":
                previous = self.escape()
            else:
                previous = _literal(char)
            pieces.append(previous)

    def number(self) -> int | None:
        start = self.position
        while self.peek() and self.peek() in "0123456789":
            self.position += 1
        return int(self.text[start : self.position]) if self.position > start else None

    def repetition(self, previous: str) -> str:
        if not previous:
            raise errors.plain("'{m,n}' without operand")
        low = self.number() or 0
        high: int | None = low
        if self.peek() == ",":
            self.position += 1
            high = self.number()
        if self.peek() != "}":
            raise errors.plain("unmatched '{'")
        if high is not None and high < low:
            raise errors.plain("n less than m in '{m,n}'")
        self.position += 1
        if low == 0 and (high is None or high == 0):
            raise errors.plain("both m and n are zero in '{m,n}'")
        return f"{{{low},{'' if high is None else high}}}"

    def escaped_char(self) -> str | None:
        """The character of an escape (behind its backslash); None where it is no single character."""
        char = self.peek()
        for letter, count in (("u", 4), ("x", 2)):
            digits = self.text[self.position + 1 : self.position + 1 + count]
            if char == letter and len(digits) == count and all(digit in "0123456789abcdefABCDEF" for digit in digits):
                self.position += 1 + count
                return chr(int(digits, 16))
        if char in _ESCAPES:
            self.position += 1
            return _ESCAPES[char]
        if char and char in _SPECIAL:
            self.position += 1
            return char
        return None

    def escape(self) -> str:
        char = self.peek()
        if char in _CLASSES:
            self.position += 1
            return _CLASSES[char]
        if char == "":
            return "(?!)"
        found = self.escaped_char()
        if found is None:
            raise errors.plain("unknown \\ escape")
        return _literal(found)

    def set(self) -> str:
        negated = self.peek() == "^"
        if negated:
            self.position += 1
        members: list[str] = []
        is_first = True
        while True:
            char = self.peek()
            if char == "":
                raise errors.plain("unclosed '['")
            if char == "]" and not is_first:
                self.position += 1
                break
            is_first = False
            if char == "[" and self.text[self.position + 1 : self.position + 2] == ":":
                raise errors.plain("POSIX character classes not supported")
            first = self.member()
            if self.peek() == "-":
                self.position += 1
                last = self.member()
                if first <= last:
                    members.append(f"{_literal(first)}-{_literal(last)}")
            else:
                members.append(_literal(first))
        if not members:
            return "." if negated else "(?!)"
        return "[" + ("^" if negated else "") + "".join(members) + "]"

    def member(self) -> str:
        char = self.peek()
        if char == "":
            raise errors.plain("unclosed '['")
        self.position += 1
        if char != "\\":
            return char
        found = self.escaped_char()
        if found is None:
            raise errors.plain("unknown \\ escape")
        return found


def _literal(char: str) -> str:
    return "\\" + char if not char.isalnum() and char.isascii() and char not in " _" else char
