"""The constraints of a column, and the clauses that table constraints share with them.

A CONSTRAINT name goes to the constraint behind it; names may stand alone or follow one another.  NOT DEFERRABLE and DEFERRABLE are
constraints of their own in the grammar and change the last REFERENCES of the column.

Follows the manual's "CREATE TABLE", "Foreign Key Support" and "Generated Columns".
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.parse.ast_ddl import Check, ColumnCollate, Default, ForeignKey, Generated, NotNull, Nullable, PrimaryKey, Unique
from sqlvec.parse.ast_expr import ColumnRef, CurrentTime, Literal, Name, Node, Unary
from sqlvec.parse.expressions import expression
from sqlvec.parse.select import plain_columns
from sqlvec.parse.token_stream import ID_KINDS, TokenStream
from sqlvec.resolve import resolve

_TERMS = frozenset(("NULL", "FLOAT", "BLOB", "STRING", "INTEGER", "CTIME_KW"))
_SPACES = " \t\n\r\f\x0b"


def text_between(ts: TokenStream, start: int) -> str:
    """The trimmed source from ``start`` to the current token."""
    return ts.sql[start : ts.start()].strip(_SPACES)


def on_conflict(ts: TokenStream) -> str | None:
    """``[ON CONFLICT action]``"""
    if ts.kind != "ON":
        return None
    ts.advance()
    ts.expect("CONFLICT")
    return str(resolve("sqlvec.parse.dml:conflict_action")(ts))


def autoincrement(ts: TokenStream) -> bool:
    return ts.accept("AUTOINCREMENT")


def optional_columns(ts: TokenStream) -> list[Name]:
    return plain_columns(ts) or []


def column_constraints(ts: TokenStream, column: Name) -> list[Node]:
    constraints: list[Node] = []
    name: Name | None = None
    start = ts.start()
    while True:
        if name is None:
            start = ts.start()
        if ts.kind == "CONSTRAINT":
            start = ts.start()
            ts.advance()
            name = ts.name()
            continue
        parse = _PARSERS.get(ts.kind)
        if parse is None:
            return constraints
        made = parse(ts, name, start, column, constraints)
        if made is not None:
            constraints.append(made)
        name = None


def _default(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> Node:
    ts.advance()
    text_start = ts.start()
    if ts.kind == "(":
        text_start += 1
        ts.advance()
        ts.depth += 2
        expr = expression(ts)
        ts.depth -= 2
        text = text_between(ts, text_start)
        ts.expect(")")
        return Default(name, expr, text, True, (start, ts.end()))
    if ts.kind == "+" or ts.kind == "-":
        if ts.kinds[ts.position + 1] not in _TERMS:
            ts.advance()
            ts.fail()
        expr = expression(ts, 12)
    elif ts.kind in _TERMS:
        expr = _term(ts)
    elif ts.kind in ID_KINDS:
        word = ts.take_name()
        lowered = word.text.lower()
        if not word.quoted and (lowered == "true" or lowered == "false"):
            expr = Literal("integer", int(lowered == "true"), word.span)
        else:
            expr = Literal("string", word.text, word.span)
    else:
        ts.fail()
        raise AssertionError
    return Default(name, expr, ts.sql[text_start : ts.end()], False, (start, ts.end()))


def _term(ts: TokenStream) -> Node:
    """One literal; a string followed by a point is a syntax error at the point, as it cannot be a qualified name here."""
    node = expression(ts, 12)
    if isinstance(node, (Literal, CurrentTime, Unary)):
        return node
    assert isinstance(node, ColumnRef)
    ts.position = ts.starts.index(node.span[0]) + 1
    ts.kind = ts.kinds[ts.position]
    ts.fail()
    raise AssertionError


def _null(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> Node:
    ts.advance()
    on_conflict(ts)
    return Nullable(name, (start, ts.end()))


def _not(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> Node | None:
    """NOT NULL, or NOT DEFERRABLE."""
    if ts.kinds[ts.position + 1] == "DEFERRABLE":
        _deferrable(ts, name, start, column, so_far)
        return None
    ts.advance()
    ts.expect("NULL")
    action = on_conflict(ts)
    return NotNull(name, action, (start, ts.end()))


def _primary(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> Node:
    ts.advance()
    ts.expect("KEY")
    desc = ts.kind == "DESC"
    if desc or ts.kind == "ASC":
        ts.advance()
    action = on_conflict(ts)
    is_autoincrement = autoincrement(ts)
    return PrimaryKey(name, None, desc, is_autoincrement, action, (start, ts.end()))


def _unique(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> Node:
    ts.advance()
    action = on_conflict(ts)
    return Unique(name, None, action, (start, ts.end()))


def _check(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> Node:
    ts.advance()
    text_start = ts.ends[ts.position]
    ts.expect("(")
    ts.depth += 2
    expr = expression(ts)
    ts.depth -= 2
    text = text_between(ts, text_start)
    ts.expect(")")
    return Check(name, expr, text, (start, ts.end()))


def _references(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> Node:
    ts.advance()
    parent = ts.name()
    parent_columns = optional_columns(ts)
    on_delete, on_update = foreign_key_actions(ts)
    return ForeignKey(name, None, parent, parent_columns, on_delete, on_update, False, (start, ts.end()))


def foreign_key_actions(ts: TokenStream) -> tuple[str | None, str | None]:
    """``[ON DELETE action] [ON UPDATE action] [ON INSERT action] [MATCH name]`` in any order; the last of a kind counts."""
    on_delete = on_update = None
    while True:
        if ts.kind == "MATCH":
            ts.advance()
            ts.name()
        elif ts.kind == "ON":
            ts.advance()
            event = ts.kind
            if event not in ("DELETE", "UPDATE", "INSERT"):
                ts.fail()
            ts.advance()
            action = _reference_action(ts)
            if event == "DELETE":
                on_delete = action
            elif event == "UPDATE":
                on_update = action
        else:
            return on_delete, on_update


def _reference_action(ts: TokenStream) -> str:
    kind = ts.kind
    if kind == "SET":
        ts.advance()
        if ts.kind not in ("NULL", "DEFAULT"):
            ts.fail()
        return "SET " + ts.word()
    if kind == "NO":
        ts.advance()
        ts.expect("ACTION")
        return "NO ACTION"
    if kind not in ("CASCADE", "RESTRICT"):
        ts.fail()
    return ts.word()


def deferral(ts: TokenStream) -> bool | None:
    """``[NOT] DEFERRABLE [INITIALLY DEFERRED | IMMEDIATE]``: whether it defers; None when nothing is written."""
    negated = ts.kind == "NOT"
    if not negated and ts.kind != "DEFERRABLE":
        return None
    if negated:
        ts.advance()
    ts.expect("DEFERRABLE")
    deferred = False
    if ts.accept("INITIALLY"):
        if ts.kind not in ("DEFERRED", "IMMEDIATE"):
            ts.fail()
        deferred = ts.word() == "DEFERRED"
    return deferred and not negated


def _deferrable(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> None:
    deferred = deferral(ts) or False
    for constraint in reversed(so_far):
        if isinstance(constraint, ForeignKey):
            constraint.deferred = deferred
            return


def _collate(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> Node:
    ts.advance()
    collation = ts.ids_name()
    return ColumnCollate(name, collation, (start, ts.end()))


def _generated(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> Node:
    """``[GENERATED ALWAYS] AS (expr) [VIRTUAL | STORED]``"""
    if ts.kind == "GENERATED":
        ts.advance()
        ts.expect("ALWAYS")
    ts.expect("AS")
    text_start = ts.ends[ts.position]
    ts.expect("(")
    ts.depth += 2
    expr = expression(ts)
    ts.depth -= 2
    text = text_between(ts, text_start)
    ts.expect(")")
    storage = None
    if ts.kind in ("ID", "QUOTED") or (ts.kind in ID_KINDS and ts.kind not in ("GENERATED", "INDEXED")):
        storage = ts.take_name().text.upper()
        if storage not in ("VIRTUAL", "STORED"):
            ts.defer(errors.error_in_generated_column(column.text))
    return Generated(name, expr, storage, text, (start, ts.end()))


_PARSERS = {
    "DEFAULT": _default, "NULL": _null, "NOT": _not, "PRIMARY": _primary, "UNIQUE": _unique, "CHECK": _check, "REFERENCES": _references,
    "DEFERRABLE": _deferrable, "COLLATE": _collate, "GENERATED": _generated, "AS": _generated,
}  # fmt: skip
