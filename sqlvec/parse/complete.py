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

Follows the manual's "Determine If An SQL Statement Is Complete".
"""
from __future__ import annotations

from sqlvec.parse.lexer import id_end, is_id_char

_SEMI, _SPACE, _OTHER, _EXPLAIN, _CREATE, _TEMP, _TRIGGER, _END = range(8)
_WORDS = {"EXPLAIN": _EXPLAIN, "CREATE": _CREATE, "TEMP": _TEMP, "TEMPORARY": _TEMP, "TRIGGER": _TRIGGER, "END": _END}

#          SEMI SPACE OTHER EXPLAIN CREATE TEMP TRIGGER END
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
    state = 0
    position = 0
    length = len(sql)
    while position < length:
        char = sql[position]
        if char == "\0":
            break
        token = _OTHER
        if char == ";":
            token = _SEMI
            position += 1
        elif char in " \r\t\n\f":
            token = _SPACE
            position += 1
        elif sql.startswith("/*", position):
            end = sql.find("*/", position + 2)
            if end < 0:
                return False
            token = _SPACE
            position = end + 2
        elif sql.startswith("--", position):
            end = sql.find("\n", position)
            if end < 0:
                return state == 1
            token = _SPACE
            position = end + 1
        elif char in _CLOSERS:
            end = sql.find(_CLOSERS[char], position + 1)
            if end < 0:
                return False
            position = end + 1
        elif is_id_char(char):
            end = id_end(sql, position)
            token = _WORDS.get(sql[position:end].upper(), _OTHER) if end - position < 10 else _OTHER
            position = end
        else:
            position += 1
        state = _NEXT[state][token]
    return state == 1
