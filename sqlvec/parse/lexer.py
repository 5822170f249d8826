"""Text to tokens: three parallel lists of kinds, start and end offsets, for one statement at a time.

``lex(sql, position, kinds, starts, ends)`` appends the tokens of one statement, up to and with its ``;``, or up to the end of the
text.  A token's *kind* is a string: a keyword in upper case, an operator or punctuation mark itself, or one of

    ID QUOTED STRING INTEGER FLOAT BLOB VARIABLE JOIN_KW LIKE_KW CTIME_KW COLUMNKW ILLEGAL EOF

QUOTED is an identifier in ``"..."`` ``[...]`` or backquotes.  Spellings that mean the same are one kind: ``==`` is '=', ``<>`` is '!=',
TEMPORARY is 'TEMP'.

Invariants
 1. The last token appended is ';', 'EOF' or 'ILLEGAL'.  An illegal token is no error here: the parser complains when it gets there,
    as an earlier syntax error comes first.
 2. A NUL character ends the text.
 3. WINDOW, OVER and FILTER are keywords only in the places where the language uses them; elsewhere they are 'ID'.  The decision needs
    the tokens around them, so it is made in a pass over the finished lists, and only when one of the three words was met.
 4. Whole runs are measured with ``str.lstrip`` on a short slice, several times faster than a loop over characters; the regular
    expression module would cost more than the rest of a small query's parsing.

Follows the manual's "SQL Language: keywords", "Literal Values" and "Comments".

The tokens of one statement with a position: what the grammar modules read from, and where syntax errors are made.

Recursive descent reports what SQLite's LALR(1) parser reports: the error is at the first token that cannot continue the statement.
So ``fail()`` always complains about the current token: as illegal, as a syntax error, or as incomplete input at the end of the text.

What the grammar accepts and an action refuses (``unknown join type``, a limit) is an error of its own; but the action runs when the token
behind it has been read, and a syntax error at that token comes first.  So such errors are ``defer``red until that token is taken.

The same parser has a stack of 100 entries, and too deep a nesting of parentheses, functions, CASEs or sub-queries ends in ``parser
stack overflow``.  ``depth`` counts the grammar symbols that stand on that stack: each construct adds those before its operand while the
operand is parsed.  ``height`` is the height of the expression just parsed, limited to 1,000 as in the manual's "Limits".
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.parse.ast import Name

_KEYWORD_WORDS = (
    "ABORT ACTION ADD AFTER ALL ALTER ALWAYS ANALYZE AND AS ASC ATTACH AUTOINCREMENT BEFORE BEGIN BETWEEN BY CASCADE CASE CAST CHECK"
    " COLLATE COMMIT CONFLICT CONSTRAINT CREATE CURRENT DATABASE DEFAULT DEFERRABLE DEFERRED DELETE DESC DETACH DISTINCT DO DROP EACH"
    " ELSE END ESCAPE EXCEPT EXCLUDE EXCLUSIVE EXISTS EXPLAIN FAIL FILTER FIRST FOLLOWING FOR FOREIGN FROM GENERATED GROUP GROUPS HAVING"
    " IF IGNORE IMMEDIATE IN INDEX INDEXED INITIALLY INSERT INSTEAD INTERSECT INTO IS ISNULL JOIN KEY LAST LIMIT MATCH MATERIALIZED NO NOT"
    " NOTHING NOTNULL NULL NULLS OF OFFSET ON OR ORDER OTHERS OVER PARTITION PLAN PRAGMA PRECEDING PRIMARY QUERY RAISE RANGE RECURSIVE"
    " REFERENCES REINDEX RELEASE RENAME REPLACE RESTRICT RETURNING ROLLBACK ROW ROWS SAVEPOINT SELECT SET TABLE TEMP THEN TIES TO"
    " TRANSACTION TRIGGER UNBOUNDED UNION UNIQUE UPDATE USING VACUUM VALUES VIEW VIRTUAL WHEN WHERE WINDOW WITH WITHOUT"
)

KEYWORDS: dict[str, str] = {word: word for word in _KEYWORD_WORDS.split()}
for _word in ("CROSS", "FULL", "INNER", "LEFT", "NATURAL", "OUTER", "RIGHT"):
    KEYWORDS[_word] = "JOIN_KW"
for _word in ("LIKE", "GLOB", "REGEXP"):
    KEYWORDS[_word] = "LIKE_KW"
for _word in ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP"):
    KEYWORDS[_word] = "CTIME_KW"
KEYWORDS["COLUMN"] = "COLUMNKW"
KEYWORDS["TEMPORARY"] = "TEMP"

# Keywords that are identifiers wherever the grammar has no place for the keyword itself.
_FALLBACK_WORDS = (
    "ABORT ACTION AFTER ALWAYS ANALYZE ASC ATTACH BEFORE BEGIN BY CASCADE CAST COLUMNKW CONFLICT CTIME_KW CURRENT DATABASE DEFERRED"
    " DESC DETACH DO EACH END EXCLUDE EXCLUSIVE EXPLAIN FAIL FIRST FOLLOWING FOR GENERATED GROUPS IF IGNORE IMMEDIATE INITIALLY INSTEAD"
    " KEY LAST LIKE_KW MATCH MATERIALIZED NO NULLS OF OFFSET OTHERS PARTITION PLAN PRAGMA PRECEDING QUERY RAISE RANGE RECURSIVE REINDEX"
    " RELEASE RENAME REPLACE RESTRICT ROLLBACK ROW ROWS SAVEPOINT TEMP TIES TRIGGER UNBOUNDED VACUUM VIEW VIRTUAL WITH WITHOUT"
)
FALLBACK = frozenset(_FALLBACK_WORDS.split())

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"
_ID_CHARS = "etaoinsrldcumpfghbyvwk_0123456789TENSRLICOADUMPFGHBYVWKxqjzXQJZ$"
_HEX_CHARS = "0123456789abcdefABCDEF"
_SPACE_CHARS = " \n\t\r\f\x0b"

# What the first character of a token tells.
_IDENTIFIER, _SPACE, _MARK, _DIGIT, _QUOTE, _OTHER = range(6)
_CLASS: dict[str, int] = dict.fromkeys(map(chr, range(128)), _OTHER)
_CLASS.update((char, _IDENTIFIER) for char in _LETTERS + "_")
_CLASS.update((char, _SPACE) for char in " \t\n\r\f")
_CLASS.update((char, _MARK) for char in "(),*+%&~")
_CLASS.update((char, _DIGIT) for char in _DIGITS)
_CLASS["'"] = _QUOTE
_FOLLOWED_BY: dict[str, tuple[tuple[str, str], ...]] = {
    "<": (("<=", "<="), ("<>", "!="), ("<<", "<<")),
    ">": ((">=", ">="), (">>", ">>")),
    "=": (("==", "="),),
    "|": (("||", "||"),),
}


def is_id_char(char: str) -> bool:
    """True for a character that may continue an identifier."""
    return char in _ID_CHARS or char >= "\x80"


def id_end(sql: str, position: int) -> int:
    """The offset after the run of identifier characters that starts at ``position``."""
    while True:
        chunk = sql[position : position + 32]
        rest = chunk.lstrip(_ID_CHARS)
        position += len(chunk) - len(rest)
        if rest:
            if rest[0] < "\x80":
                return position
            position += 1
        elif len(chunk) < 32:
            return position


def lex(sql: str, position: int, kinds: list[str], starts: list[int], ends: list[int]) -> None:
    """Append the tokens of the statement at ``position``, its ``;`` or 'EOF' included."""
    class_of = _CLASS.get
    keyword = KEYWORDS.get
    add_kind, add_start, add_end = kinds.append, starts.append, ends.append
    length = len(sql)
    contextual = False
    first_token = len(kinds)
    while position < length:
        char = sql[position]
        cls = class_of(char, _IDENTIFIER)
        if cls == _SPACE:
            position += 1
            continue
        start = position
        if cls == _IDENTIFIER:
            chunk = sql[position : position + 24]
            rest = chunk.lstrip(_ID_CHARS)
            if rest and rest[0] < "\x80":
                position += len(chunk) - len(rest)
                word = chunk[: position - start]
            else:
                position = id_end(sql, position)
                word = sql[start:position]
                if char == "\ufeff":
                    position = start + 1  # where a token could begin, a byte order mark is blank
                    continue
                if not word.isascii():
                    add_kind("ID")
                    add_start(start)
                    add_end(position)
                    continue
            kind = keyword(word.upper(), "ID")
            if kind == "ID":
                if position - start == 1 and char in "xX" and sql.startswith("'", position):
                    kind, position = _blob(sql, position + 1)
            elif kind in ("WINDOW", "OVER", "FILTER"):
                contextual = True
        elif cls == _MARK:
            kind = char
            position += 1
        elif cls == _DIGIT:
            chunk = sql[position : position + 20]
            rest = chunk.lstrip(_DIGITS)
            if rest and rest[0] not in ".$_" and class_of(rest[0], 0) != _IDENTIFIER:
                position += len(chunk) - len(rest)
                kind = "INTEGER"
            else:
                kind, position = _number(sql, position)
        elif cls == _QUOTE:
            kind = "STRING"
            position = sql.find("'", position + 1) + 1
            while position and sql.startswith("'", position):
                position = sql.find("'", position + 1) + 1
            if not position:
                kind, position = "ILLEGAL", _text_end(sql, start)
        elif char == ";":
            add_kind(";")
            add_start(start)
            add_end(position + 1)
            break
        else:
            kind, position = _other(sql, position, char)
            if kind == "":  # a comment or blank
                continue
            if kind == "EOF":
                length = position
                break
        add_kind(kind)
        add_start(start)
        add_end(position)
        if kind == "ILLEGAL":
            break
    else:
        add_kind("EOF")
        add_start(length)
        add_end(length)
    if position < len(sql) and position == length:  # stopped at a NUL
        add_kind("EOF")
        add_start(length)
        add_end(length)
    if contextual:
        _settle_contextual(kinds, first_token)


def _text_end(sql: str, position: int) -> int:
    """Where the text ends: at its first NUL or its length."""
    nul = sql.find("\0", position)
    return len(sql) if nul < 0 else nul


def _blob(sql: str, position: int) -> tuple[str, int]:
    """The rest of ``x'...'`` from after the opening quote."""
    end = position
    while sql[end : end + 1] and sql[end] in _HEX_CHARS:
        end += 1
    if sql.startswith("'", end) and (end - position) % 2 == 0:
        return "BLOB", end + 1
    end = sql.find("'", end)
    return "ILLEGAL", _text_end(sql, position) if end < 0 else end + 1


def _digits_end(sql: str, position: int) -> int:
    while sql[position : position + 1] and sql[position] in _DIGITS:
        position += 1
    return position


def _number(sql: str, position: int) -> tuple[str, int]:
    """A numeric literal that starts at ``position`` with a digit, or with a point followed by a digit."""
    is_hex = sql[position] == "0" and sql[position + 1 : position + 2] in ("x", "X")
    if is_hex and position + 2 < len(sql) and sql[position + 2] in _HEX_CHARS:
        end = position + 3
        while sql[end : end + 1] and sql[end] in _HEX_CHARS:
            end += 1
        return "INTEGER", end
    kind = "INTEGER"
    end = _digits_end(sql, position)
    if sql.startswith(".", end):
        kind = "FLOAT"
        end = _digits_end(sql, end + 1)
    if sql[end : end + 1] in ("e", "E"):
        after = end + 2 if sql[end + 1 : end + 2] in ("+", "-") else end + 1
        if sql[after : after + 1].isascii() and sql[after : after + 1].isdigit():
            kind = "FLOAT"
            end = _digits_end(sql, after)
    return _refuse_word(kind, sql, end)


def _refuse_word(kind: str, sql: str, position: int) -> tuple[str, int]:
    """A number may not run on into an identifier."""
    end = id_end(sql, position)
    return (kind, position) if end == position else ("ILLEGAL", end)


def _other(sql: str, position: int, char: str) -> tuple[str, int]:
    """The kind and end of a token that starts with a less common character; kind '' for a comment, 'EOF' at a NUL."""
    if char in _FOLLOWED_BY:
        for text, kind in _FOLLOWED_BY[char]:
            if sql.startswith(text, position):
                return kind, position + 2
        return char, position + 1
    if char == "-":
        if sql.startswith("--", position):
            end = sql.find("\n", position)
            nul = _text_end(sql, position)
            return "", nul if end < 0 or end > nul else end + 1
        if sql.startswith("->", position):
            return ("->>", position + 3) if sql.startswith("->>", position) else ("->", position + 2)
        return "-", position + 1
    if char == "/":
        nul = _text_end(sql, position)
        if sql.startswith("/*", position) and position + 2 < nul:
            end = sql.find("*/", position + 2, nul)
            return "", nul if end < 0 else end + 2
        return "/", position + 1
    if char == "!":
        return ("!=", position + 2) if sql.startswith("!=", position) else ("ILLEGAL", position + 1)
    if char == ".":
        following = sql[position + 1 : position + 2]
        return _number(sql, position) if following.isascii() and following.isdigit() else (".", position + 1)
    if char in '"`':
        end = sql.find(char, position + 1) + 1
        while end and sql.startswith(char, end):
            end = sql.find(char, end + 1) + 1
        return ("QUOTED", end) if end else ("ILLEGAL", _text_end(sql, position))
    if char == "[":
        end = sql.find("]", position) + 1
        return ("QUOTED", end) if end else ("ILLEGAL", _text_end(sql, position))
    if char == "?":
        return "VARIABLE", _digits_end(sql, position + 1)
    if char in "$@#:":
        return _variable(sql, position)
    if char == "\0":
        return "EOF", position
    if char == "\x0b" and position and sql[position - 1] in _SPACE_CHARS:
        return "", position + 1  # a vertical tab is blank only behind another blank
    return "ILLEGAL", position + 1


def _variable(sql: str, position: int) -> tuple[str, int]:
    """``:a`` ``@a`` ``$a::b(c)``, and ``#1``, which no place in the grammar accepts."""
    end = position + 1
    named = False
    while True:
        after = id_end(sql, end)
        if after != end:
            named = True
            end = after
        elif sql.startswith("(", end) and named:
            end += 1
            while sql[end : end + 1] and sql[end] not in _SPACE_CHARS and sql[end] not in ")\0":
                end += 1
            return ("VARIABLE", end + 1) if sql.startswith(")", end) else ("ILLEGAL", end)
        elif sql.startswith("::", end):
            end += 2
        else:
            return ("VARIABLE" if named else "ILLEGAL", end)


def _settle_contextual(kinds: list[str], first: int) -> None:
    """Turn WINDOW, OVER and FILTER into identifiers except where they are the keyword (invariant 3)."""
    raw = kinds[:]
    for index in range(first, len(raw)):
        kind = raw[index]
        if kind == "WINDOW":
            is_keyword = names_something(raw[index + 1]) and raw[index + 2] == "AS"
        elif kind == "OVER":
            is_keyword = index > first and raw[index - 1] == ")" and (raw[index + 1] == "(" or names_something(raw[index + 1]))
        elif kind == "FILTER":
            is_keyword = index > first and raw[index - 1] == ")" and raw[index + 1] == "("
        else:
            continue
        if not is_keyword:
            kinds[index] = "ID"


def names_something(kind: str) -> bool:
    """Whether a token of this kind counts as an identifier for the look-ahead of WINDOW and OVER."""
    return kind in ("ID", "QUOTED", "STRING", "JOIN_KW", "WINDOW", "OVER") or kind in FALLBACK


STACK_LIMIT = 99
HEIGHT_LIMIT = 1000

IDS_KINDS = FALLBACK | {"ID", "QUOTED", "STRING"}
ID_KINDS = FALLBACK | {"ID", "QUOTED", "INDEXED"}
NAME_KINDS = FALLBACK | {"ID", "QUOTED", "STRING", "INDEXED", "JOIN_KW"}


class TokenStream:
    """``kind`` is the kind of the token at ``position``; ``starts``/``ends`` are offsets into ``sql``."""

    __slots__ = (
        "deferred", "depth", "ends", "height", "is_stored", "kind", "kinds", "parameter_count", "parameter_names", "parameter_numbers", "position",
        "sql", "starts",
    )  # fmt: skip

    def __init__(self, sql: str, start: int = 0) -> None:
        self.sql = sql
        self.kinds: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        lex(sql, start, self.kinds, self.starts, self.ends)
        self.position = 0
        self.kind = self.kinds[0]
        self.depth = 0
        self.deferred: errors.SqlError | None = None
        self.is_stored = False                          # the text of a schema row: what old versions accepted is accepted
        self.height = 0
        self.parameter_count = 0
        self.parameter_names: dict[int, str] = {}
        self.parameter_numbers: dict[str, int] = {}

    def advance(self) -> None:
        """Go to the next token; behind a ``;`` the text of a trigger's body, or of the next statement, is lexed on."""
        if self.deferred is not None:
            raise self.deferred
        self.position += 1
        if self.position == len(self.kinds):
            lex(self.sql, self.ends[-1], self.kinds, self.starts, self.ends)
        self.kind = self.kinds[self.position]

    def accept(self, kind: str) -> bool:
        """Take the current token if it is of this kind."""
        if self.kind != kind:
            return False
        self.advance()
        return True

    def expect(self, kind: str) -> None:
        """Take a token of this kind or fail."""
        if self.kind != kind:
            self.fail()
        self.advance()

    def fail(self) -> None:
        """Raise the error of a statement that cannot go on with the current token."""
        if self.kind == "EOF":
            raise errors.incomplete_input()
        text = self.token_text()
        if self.kind == "ILLEGAL":
            raise errors.unrecognized_token(text, self.starts[self.position])
        raise errors.syntax_error(text, self.starts[self.position])

    def overflow(self) -> None:
        raise errors.parser_stack_overflow()

    def defer(self, error: errors.SqlError) -> None:
        """Refuse what has just been read, unless the current token turns out to be a syntax error."""
        self.deferred = error

    def finish(self) -> None:
        """All has been read that may stand before the current token, which must end the statement."""
        if self.kind != ";" and self.kind != "EOF":
            self.fail()
        if self.deferred is not None:
            raise self.deferred

    def token_text(self) -> str:
        return self.sql[self.starts[self.position] : self.ends[self.position]]

    def word(self) -> str:
        """The current token in upper case, taken."""
        text = self.token_text().upper()
        self.advance()
        return text

    def start(self) -> int:
        """Where the current token starts."""
        return self.starts[self.position]

    def end(self) -> int:
        """Where the last token taken ended."""
        return self.ends[self.position - 1]

    def take_name(self) -> Name:
        """Take the current token, known to be one that can be a name."""
        position = self.position
        start, end = self.starts[position], self.ends[position]
        text = self.sql[start:end]
        quoted = ""
        if self.kind == "QUOTED" or self.kind == "STRING":
            quoted = text[0]
            text = text[1:-1]
            if quoted != "[" and quoted in text:
                text = text.replace(quoted + quoted, quoted)
        self.advance()
        return Name(text, (start, end), quoted)

    def name(self) -> Name:
        """Any name: identifier, string, or a keyword that may stand for one."""
        if self.kind not in NAME_KINDS:
            self.fail()
        return self.take_name()

    def ids_name(self) -> Name:
        """The narrower kind of name that type names, collations and aliases without AS take."""
        if self.kind not in IDS_KINDS:
            self.fail()
        return self.take_name()

    def qualified_name(self) -> tuple[Name | None, Name]:
        """``[schema.]name``"""
        name = self.name()
        if self.kind == ".":
            self.advance()
            return name, self.name()
        return None, name

    def optional_alias(self) -> Name | None:
        """``[AS name | name]``"""
        if self.kind == "AS":
            self.advance()
            return self.name()
        if self.kind in IDS_KINDS:
            return self.take_name()
        return None

    def name_list(self) -> list[Name]:
        """``name, name, ...``"""
        names = [self.name()]
        while self.kind == ",":
            self.advance()
            names.append(self.name())
        return names

    def taller(self, height: int) -> None:
        """Set the height of the expression just built; too tall a tree is an error."""
        if height > HEIGHT_LIMIT:
            self.defer(errors.expression_too_deep(HEIGHT_LIMIT))
        self.height = height
