"""INSERTs of literals, planned once per shape: the commonest big input, a script of ``INSERT INTO t VALUES(1,'x');``.

The shape of the text (parse/literal_insert.py) is looked up among the shapes that this session has met.  The first statement of a shape
goes the ordinary way; from the second on a statement with parameters in place of the literals is kept and run again with other values.

Invariants
 1. Nothing is different to see: a kept statement shows no parameters and ignores ``bind``; what cannot be prepared this way is prepared
    the ordinary way, so errors and their offsets are those of the real text.
 2. A kept statement is used while its plan's generation is current and it is not running; else a new one is made.
 3. With a trace or authorizer every statement goes the ordinary way.
"""
from __future__ import annotations

from sqlvec.errors import SqlError
from sqlvec.parse.literal_insert import template, token_shape
from sqlvec.parse.parser import parse_statement
from sqlvec.session.statement import Statement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.session.session import Session

MOST_SHAPES = 64


class LiteralInsert(Statement):
    """A statement whose parameters stand for the literals of the text."""

    __slots__ = ()
    text_values = True
    """The values belong to the text that it was prepared for last: it must not be cached under a text."""

    def bind(self, values: tuple[Any, ...]) -> None:
        """The values come from the text."""


def prepare(session: Session, sql: str, start: int) -> tuple[Statement, int] | None:
    """The statement at ``start`` if it is an INSERT of literals whose shape was met before; None to prepare it the ordinary way."""
    if session.trace is not None or session.authorize is not None:
        return None
    found = token_shape(sql, start)
    if found is None:
        return None
    shape, values, end = found
    known = session.literal_inserts
    statement = known.get(shape)
    if statement is None:
        if shape not in known:
            if len(known) >= MOST_SHAPES:
                known.clear()
            known[shape] = None
            return None
        statement = known[shape] = _make(session, shape)
    elif statement._rows is not None or statement.plan.generation != session.settings.generation + session.functions.generation:
        statement = known[shape] = _make(session, shape)
    if statement is None:
        return None
    statement._values = tuple(values)
    return statement, end


def _make(session: Session, shape: Any) -> LiteralInsert | None:
    text = template(shape)
    try:
        tree, _ = parse_statement(text)
        statement = LiteralInsert(session, tree, text)
    except SqlError:
        return None
    statement.parameters = []
    return statement
