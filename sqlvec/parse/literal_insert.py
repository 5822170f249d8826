"""``INSERT INTO t VALUES(literals...)``, recognised without parsing, so that a script of such statements is planned once.

``token_shape(sql, start)`` splits the statement at ``start`` into a *shape* and its values.  The shape is (prefix, values in a row, rows):
the prefix is the exact source from INSERT to the first parenthesis after VALUES.  ``template(shape)`` is the same statement with a
parameter for each value; whoever runs a shape a second time binds the values to the plan of its template.

The idea: a prefix seen before needs no lexing (``startswith``), and literals are cut by ``str.find`` and ``str.lstrip``: 1 us a value.

Invariants
 1. Anything unusual gives None, and the general parser decides: other literals than numbers, strings, blobs and NULL, comments between
    values, rows of different lengths, anything behind the last row, a NUL character.
 2. A prefix is accepted once the lexer has seen that its tokens are ``INSERT [OR action] INTO [schema.]name [(names)] VALUES (``.
    Equal text then has equal tokens, as the prefix ends in a token of its own.
 3. The values are what the parser's literals would be.
"""
from __future__ import annotations

from sqlvec.parse.lexer import NAME_KINDS, lex

TYPE_CHECKING = False
if TYPE_CHECKING:
    Shape = tuple[str, int, int]

MAX_VALUES = 30_000
_BLANKS = " \n\t\r"
_DIGITS = "0123456789"
_PREFIX_SPAN = 1000
_known_prefixes: dict[str, bool] = {}
_last_prefix = ["\0"]


def token_shape(sql: str, start: int = 0) -> tuple[Shape, list[int | float | str | bytes | None], int] | None:
    """The shape, the values and the end offset of a literal INSERT at ``start``; None if the statement is anything else."""
    while sql[start : start + 1] in ("\n", " ", "\t", "\r"):
        start += 1
    prefix = _last_prefix[0]
    if not sql.startswith(prefix, start):
        found = _prefix(sql, start)
        if found is None:
            return None
        prefix = _last_prefix[0] = found
    position = start + len(prefix)
    values: list[int | float | str | bytes | None] = []
    width = rows = 0
    try:
        while True:
            position = _row(sql, position, values)
            if position < 0:
                return None
            rows += 1
            if rows == 1:
                width = len(values)
            elif len(values) != width * rows:
                return None
            char = sql[position : position + 1]
            while char and char in _BLANKS:
                position += 1
                char = sql[position : position + 1]
            if char == ";" or not char:
                return (prefix, width, rows), values, position + len(char)
            if char != "," or len(values) > MAX_VALUES:
                return None
            position += 1
            while sql[position] in _BLANKS:
                position += 1
            if sql[position] != "(":
                return None
            position += 1
    except (IndexError, ValueError):
        return None


def template(shape: Shape) -> str:
    """The statement of this shape with parameters in place of the values."""
    prefix, width, rows = shape
    row = ",".join("?" * width) + ")"
    return prefix + row + (",(" + row) * (rows - 1)


def _prefix(sql: str, start: int) -> str | None:
    """The text up to the parenthesis behind VALUES, if the tokens before it are the plain ones (invariant 2)."""
    if sql[start : start + 6].upper() not in ("INSERT", "REPLAC"):
        return None
    kinds: list[str] = []
    ends: list[int] = []
    lex(sql[start : start + _PREFIX_SPAN], 0, kinds, [], ends)
    if "VALUES" not in kinds:
        return None
    last = kinds.index("VALUES") + 1
    if kinds[last : last + 1] != ["("]:
        return None
    prefix = sql[start : start + ends[last]]
    is_plain = _known_prefixes.get(prefix)
    if is_plain is None:
        is_plain = _known_prefixes[prefix] = _is_plain(kinds[: last - 1])
    return prefix if is_plain else None


def _is_plain(kinds: list[str]) -> bool:
    """``INSERT [OR action] INTO [schema.]name [(names)]`` or REPLACE INTO ..."""
    rest = kinds[1:]
    if kinds[0] == "INSERT" and rest[:1] == ["OR"] and rest[1:2] and rest[1] in ("ROLLBACK", "ABORT", "FAIL", "IGNORE", "REPLACE"):
        rest = rest[2:]
    if rest[:1] != ["INTO"] or rest[1:2] == [] or rest[1] not in NAME_KINDS:
        return False
    rest = rest[2:]
    if rest[:1] == ["."] and rest[1:2] and rest[1] in NAME_KINDS:
        rest = rest[2:]
    if not rest:
        return True
    if rest[0] != "(" or rest[-1] != ")" or len(rest) % 2 == 0:
        return False
    return all(kind in NAME_KINDS for kind in rest[1:-1:2]) and all(kind == "," for kind in rest[2:-1:2])


def _row(sql: str, position: int, values: list[int | float | str | bytes | None]) -> int:
    """Append the values of a row that starts behind its parenthesis; the offset behind the closing one, or -1."""
    while True:
        char = sql[position]
        while char in _BLANKS:
            position += 1
            char = sql[position]
        value: int | float | str | bytes | None
        if char == "'":
            end = sql.index("'", position + 1)
            if sql.startswith("'", end + 1):
                while sql.startswith("'", end + 1):
                    end = sql.index("'", end + 2)
                value = sql[position + 1 : end].replace("''", "'")
            else:
                value = sql[position + 1 : end]
            if "\0" in value:
                return -1
            position = end + 1
        elif char in "0123456789-.":
            first = position + 1 if char == "-" else position
            chunk = sql[first : first + 24]
            rest = chunk.lstrip(_DIGITS)
            length = len(chunk) - len(rest)
            if rest and rest[0] in ",) \n" and 0 < length < 19:
                value = int(chunk[:length])
            else:
                rest = chunk.lstrip("0123456789.eE+-")
                length = len(chunk) - len(rest)
                if not rest or rest[0] not in ",) \n" or length > 16 or chunk[0] not in "0123456789.":
                    return -1
                value = float(chunk[:length])
            if first != position:
                value = -value
            position = first + length
        elif char in "nN" and sql[position : position + 4].upper() == "NULL":
            value = None
            position += 4
        elif char in "xX" and sql[position + 1] == "'":
            end = sql.index("'", position + 2)
            digits = sql[position + 2 : end]
            if digits and not (digits.isascii() and digits.isalnum()):
                return -1
            value = bytes.fromhex(digits)
            position = end + 1
        else:
            return -1
        values.append(value)
        char = sql[position]
        while char in _BLANKS:
            position += 1
            char = sql[position]
        position += 1
        if char == ")":
            return position
        if char != ",":
            return -1
