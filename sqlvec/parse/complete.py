"""Does a text end with a complete statement?  The rule by which the shell decides to run what it has read.

A text is complete if its last token, blanks and comments aside, is a ``;`` that does not stand inside a CREATE TRIGGER.  A trigger ends
only with ``; END ;``.  The words are recognised without parsing, by a small state machine over token classes:

    state         meaning
    0 INVALID     nothing but blanks so far
    1 START       a statement just ended (complete)
    2 NORMAL      in the middle of a statement
    3 EXPLAIN     EXPLAIN at the start
    4 CREATE      CREATE, perhaps after EXPLAIN, perhaps TEMP
    5 TRIGGER     in the body of a trigger
    6 SEMI        a ``;`` inside the trigger
    7 END         ``; END``: the next ``;`` ends the trigger

:class:`CompletionScanner` takes the text line by line, so that a long statement is looked at once.

Follows the manual's "Determine If An SQL Statement Is Complete".
"""
from __future__ import annotations

from sqlvec.parse.lexer import id_end, is_id_char

_SEMI, _SPACE, _OTHER, _EXPLAIN, _CREATE, _TEMP, _TRIGGER, _END = range(8)
_WORDS = {"EXPLAIN": _EXPLAIN, "CREATE": _CREATE, "TEMP": _TEMP, "TEMPORARY": _TEMP, "TRIGGER": _TRIGGER, "END": _END}

#     SEMI SPACE OTHER EXPLAIN CREATE TEMP TRIGGER END
_NEXT = (
    (1, 0, 2, 3, 4, 2, 2, 2),  # INVALID
    (1, 1, 2, 3, 4, 2, 2, 2),  # START
    (1, 2, 2, 2, 2, 2, 2, 2),  # NORMAL
    (1, 3, 3, 2, 4, 2, 2, 2),  # EXPLAIN
    (1, 4, 2, 2, 2, 4, 5, 2),  # CREATE
    (6, 5, 5, 5, 5, 5, 5, 5),  # TRIGGER
    (6, 6, 5, 5, 5, 5, 5, 7),  # SEMI
    (1, 7, 5, 5, 5, 5, 5, 5),  # END
)
_CLOSERS = {"'": "'", '"': '"', "`": "`", "[": "]"}


def is_complete(sql: str) -> bool:
    """True if ``sql`` ends with a complete statement."""
    scanner = CompletionScanner()
    nul = sql.find("\0")
    scanner.feed(sql if nul < 0 else sql[:nul])
    return scanner.is_complete


class CompletionScanner:
    """The state machine, fed with whole lines (or anything that doesn't cut a word or ``--`` in two).

    ``closer`` is what ends the string, quoted name or block comment that is open at the end of the text so far.
    """

    __slots__ = ("closer", "state")

    def __init__(self) -> None:
        self.state = 0
        self.closer = ""

    @property
    def is_complete(self) -> bool:
        return self.state == 1 and not self.closer

    def feed(self, sql: str) -> None:
        position = 0
        length = len(sql)
        state = self.state
        if self.closer:
            end = sql.find(self.closer)
            if end < 0:
                return
            position = end + len(self.closer)
            state = _NEXT[state][_SPACE if self.closer == "*/" else _OTHER]
            self.closer = ""
        while position < length:
            char = sql[position]
            token = _OTHER
            if char == ";":
                token = _SEMI
                position += 1
            elif char in " \r\t\n\f":
                token = _SPACE
                position += 1
            elif char in _CLOSERS or sql.startswith("/*", position):
                closer = _CLOSERS.get(char, "*/")
                end = sql.find(closer, position + (2 if closer == "*/" else 1))
                if end < 0:
                    self.closer = closer
                    self.state = state
                    return
                token = _SPACE if closer == "*/" else _OTHER
                position = end + len(closer)
            elif sql.startswith("--", position):
                end = sql.find("\n", position)
                token = _SPACE
                position = length if end < 0 else end + 1
            elif is_id_char(char):
                end = id_end(sql, position)
                token = _WORDS.get(sql[position:end].upper(), _OTHER) if end - position < 10 else _OTHER
                position = end
            else:
                position += 1
            state = _NEXT[state][token]
        self.state = state
