"""Transactions, savepoints, PRAGMA, ATTACH, DETACH, VACUUM, ANALYZE and REINDEX.

Follows the manual's pages on these statements.
"""
from __future__ import annotations

from sqlvec.parse.ast import ColumnRef, Literal, Name, Node
from sqlvec.parse.ast_ddl import Analyze, Attach, Begin, Commit, Detach, Pragma, Reindex, Release, Rollback, Savepoint, Vacuum
from sqlvec.parse.expressions import expression
from sqlvec.parse.lexer import NAME_KINDS, TokenStream


def _optional_transaction(ts: TokenStream) -> bool:
    """``[TRANSACTION [name]]``"""
    if not ts.accept("TRANSACTION"):
        return False
    if ts.kind in NAME_KINDS:
        ts.advance()
    return True


def begin(ts: TokenStream) -> Begin:
    start = ts.start()
    ts.advance()
    mode = ts.word() if ts.kind in ("DEFERRED", "IMMEDIATE", "EXCLUSIVE") else "DEFERRED"
    _optional_transaction(ts)
    return Begin(mode, (start, ts.end()))


def commit(ts: TokenStream) -> Commit:
    start = ts.start()
    ts.advance()
    _optional_transaction(ts)
    return Commit((start, ts.end()))


def rollback(ts: TokenStream) -> Rollback:
    start = ts.start()
    ts.advance()
    _optional_transaction(ts)
    name = None
    if ts.accept("TO"):
        ts.accept("SAVEPOINT")
        name = ts.name()
    return Rollback(name, (start, ts.end()))


def savepoint(ts: TokenStream) -> Savepoint:
    start = ts.start()
    ts.advance()
    name = ts.name()
    return Savepoint(name, (start, ts.end()))


def release(ts: TokenStream) -> Release:
    start = ts.start()
    ts.advance()
    ts.accept("SAVEPOINT")
    name = ts.name()
    return Release(name, (start, ts.end()))


def _optional_qualified(ts: TokenStream) -> tuple[Name | None, Name | None]:
    return ts.qualified_name() if ts.kind in NAME_KINDS else (None, None)


def analyze(ts: TokenStream) -> Analyze:
    start = ts.start()
    ts.advance()
    schema, name = _optional_qualified(ts)
    return Analyze(schema, name, (start, ts.end()))


def reindex(ts: TokenStream) -> Reindex:
    start = ts.start()
    ts.advance()
    schema, name = _optional_qualified(ts)
    return Reindex(schema, name, (start, ts.end()))


def vacuum(ts: TokenStream) -> Vacuum:
    start = ts.start()
    ts.advance()
    schema = ts.take_name() if ts.kind in NAME_KINDS else None
    into = None
    if ts.accept("INTO"):
        into = expression(ts)
    return Vacuum(schema, into, (start, ts.end()))


def _name_or_expression(ts: TokenStream) -> Node:
    """An expression in which a lone identifier stands for its own text."""
    node = expression(ts)
    if isinstance(node, ColumnRef) and node.table is None:
        return Literal("string", node.column.text, node.span)
    return node


def attach(ts: TokenStream) -> Attach:
    start = ts.start()
    ts.advance()
    ts.accept("DATABASE")
    file = _name_or_expression(ts)
    ts.expect("AS")
    schema = _name_or_expression(ts)
    key = None
    if ts.accept("KEY"):
        key = _name_or_expression(ts)
    return Attach(file, schema, key, (start, ts.end()))


def detach(ts: TokenStream) -> Detach:
    start = ts.start()
    ts.advance()
    ts.accept("DATABASE")
    schema = _name_or_expression(ts)
    return Detach(schema, (start, ts.end()))


def pragma(ts: TokenStream) -> Pragma:
    start = ts.start()
    ts.advance()
    schema, name = ts.qualified_name()
    form = ""
    value = None
    quoted = False
    if ts.kind == "=" or ts.kind == "(":
        form = ts.kind
        ts.advance()
        value, quoted = _pragma_value(ts)
        if form == "(":
            ts.expect(")")
    return Pragma(schema, name, value, form, quoted, (start, ts.end()))


def _pragma_value(ts: TokenStream) -> tuple[str, bool]:
    """A signed number, a name, or one of ON, DELETE, DEFAULT."""
    sign = ""
    if ts.kind == "+" or ts.kind == "-":
        sign = "-" if ts.kind == "-" else ""
        ts.advance()
        if ts.kind not in ("INTEGER", "FLOAT"):
            ts.fail()
    if ts.kind in ("INTEGER", "FLOAT", "ON", "DELETE", "DEFAULT"):
        text = ts.token_text()
        ts.advance()
        return sign + text, False
    name = ts.name()
    return name.text, name.quoted != ""
