"""The tokens of one statement with a position: what the grammar modules read from, and where syntax errors are made.

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
from sqlvec.parse.ast_expr import Name
from sqlvec.parse.lexer import FALLBACK, lex

STACK_LIMIT = 99
HEIGHT_LIMIT = 1000

IDS_KINDS = FALLBACK | {"ID", "QUOTED", "STRING"}
ID_KINDS = FALLBACK | {"ID", "QUOTED", "INDEXED"}
NAME_KINDS = FALLBACK | {"ID", "QUOTED", "STRING", "INDEXED", "JOIN_KW"}


class TokenStream:
    """``kind`` is the kind of the token at ``position``; ``starts``/``ends`` are offsets into ``sql``."""

    __slots__ = (
        "deferred", "depth", "ends", "height", "kind", "kinds", "parameter_count", "parameter_names", "parameter_numbers", "position", "sql", "starts",
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
