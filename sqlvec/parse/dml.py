"""INSERT, REPLACE, UPDATE and DELETE, as statements and as the body of a trigger; and statements that start with WITH.

In a trigger's body the grammar is narrower: no WITH before a row-changing statement, no qualified or indexed tables, no DEFAULT VALUES,
no ORDER BY; some of that is an error of its own, the rest a syntax error.

Follows the manual's "INSERT", "UPSERT", "UPDATE", "DELETE", "RETURNING" and the trigger part of "CREATE TRIGGER".
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.parse.ast import (
    Delete,
    Insert,
    JoinItem,
    Name,
    Node,
    ResultColumn,
    RowValue,
    ScalarSelect,
    Select,
    SetClause,
    Star,
    Statement,
    TableName,
    TableStar,
    Update,
    Upsert,
    With,
)
from sqlvec.parse.expressions import SELECT_STARTS, expression
from sqlvec.parse.lexer import TokenStream
from sqlvec.parse.select import (
    from_items,
    indexed_clause,
    order_and_limit,
    order_terms,
    result_columns,
    select,
    select_after_with,
    with_clause,
)

Returning = list[ResultColumn | Star | TableStar]
_CONFLICT_ACTIONS = frozenset(("ROLLBACK", "ABORT", "FAIL", "IGNORE", "REPLACE"))


def statement_with(ts: TokenStream) -> Statement:
    """WITH ... before any of the four statements that may carry it."""
    start = ts.start()
    with_ = with_clause(ts)
    if ts.kind == "INSERT" or ts.kind == "REPLACE":
        return _insert(ts, with_, start)
    if ts.kind == "UPDATE":
        return _update(ts, with_, start)
    if ts.kind == "DELETE":
        return _delete(ts, with_, start)
    ts.depth += 2
    found = select_after_with(ts, with_, start)
    ts.depth -= 2
    return found


def statement_insert(ts: TokenStream) -> Insert:
    return _insert(ts, None, ts.start())


def statement_update(ts: TokenStream) -> Update:
    return _update(ts, None, ts.start())


def statement_delete(ts: TokenStream) -> Delete:
    return _delete(ts, None, ts.start())


def trigger_statement(ts: TokenStream) -> Statement:
    """One statement of a trigger's body, without its ``;``."""
    kind = ts.kind
    start = ts.start()
    if kind == "INSERT" or kind == "REPLACE":
        return _insert(ts, None, start, in_trigger=True)
    if kind == "UPDATE":
        return _update(ts, None, start, in_trigger=True)
    if kind == "DELETE":
        return _delete(ts, None, start, in_trigger=True)
    if kind not in SELECT_STARTS:
        ts.fail()
    return select(ts)


def conflict_action(ts: TokenStream) -> str:
    """ROLLBACK, ABORT, FAIL, IGNORE or REPLACE."""
    if ts.kind not in _CONFLICT_ACTIONS:
        ts.fail()
    return ts.word()


def _or_action(ts: TokenStream) -> str | None:
    if ts.kind != "OR":
        return None
    ts.advance()
    return conflict_action(ts)


def _target(ts: TokenStream, indexed: bool, in_trigger: bool) -> TableName:
    """``[schema.]name [AS alias]`` with, for UPDATE and DELETE, ``[INDEXED BY name | NOT INDEXED]``."""
    start = ts.start()
    schema, name = ts.qualified_name()
    alias = None
    if in_trigger:
        if schema is not None:
            ts.defer(errors.qualified_name_in_trigger())
    elif ts.kind == "AS":
        ts.advance()
        alias = ts.name()
    indexed_by, not_indexed = indexed_clause(ts) if indexed else (None, False)
    if in_trigger and (indexed_by is not None or not_indexed):
        ts.defer(errors.indexed_by_in_trigger("NOT INDEXED" if not_indexed else "INDEXED BY"))
    return TableName(schema, name, alias, indexed_by, not_indexed, None, (start, ts.end()))


def _returning(ts: TokenStream, in_trigger: bool = False) -> Returning | None:
    if ts.kind != "RETURNING":
        return None
    ts.advance()
    columns = result_columns(ts)
    if in_trigger:
        ts.defer(errors.returning_in_trigger())
    return columns


# --- INSERT --------------------------------------------------------------------------------------------------------------------------


def _insert(ts: TokenStream, with_: With | None, start: int, in_trigger: bool = False) -> Insert:
    depth = ts.depth
    if ts.kind == "REPLACE":
        ts.advance()
        or_action: str | None = "REPLACE"
    else:
        ts.advance()
        or_action = _or_action(ts)
    ts.expect("INTO")
    table = _target(ts, False, in_trigger)
    columns: list[Name] | None = None
    if ts.kind == "(":
        ts.advance()
        columns = ts.name_list()
        ts.expect(")")
    source: Select | None = None
    upserts: list[Upsert] = []
    returning: Returning | None = None
    if ts.kind == "DEFAULT" and not in_trigger:
        ts.advance()
        ts.expect("VALUES")
        returning = _returning(ts)
    else:
        if ts.kind not in SELECT_STARTS:
            ts.fail()
        ts.depth = depth + 5
        source = select(ts)
        ts.depth = depth + 6
        while ts.kind == "ON":
            upsert = _upsert(ts)
            upserts.append(upsert)
            if upsert.target is None:
                break
        returning = _returning(ts, in_trigger)
    ts.depth = depth
    return Insert(with_, or_action, table, columns, source, upserts, returning, (start, ts.ends[ts.position - 1]))


def _upsert(ts: TokenStream) -> Upsert:
    start = ts.start()
    ts.advance()
    ts.expect("CONFLICT")
    target = None
    target_where = where = None
    if ts.accept("("):
        target = order_terms(ts)
        for term in target:
            if term.nulls is not None:
                ts.defer(errors.unsupported_nulls(term.nulls))
        ts.expect(")")
        if ts.accept("WHERE"):
            target_where = expression(ts)
    ts.expect("DO")
    sets: list[SetClause] | None = None
    if ts.kind == "UPDATE":
        ts.advance()
        ts.expect("SET")
        sets = set_clauses(ts)
        if ts.accept("WHERE"):
            where = expression(ts)
    else:
        ts.expect("NOTHING")
    return Upsert(target, target_where, sets, where, (start, ts.end()))


# --- UPDATE and DELETE ---------------------------------------------------------------------------------------------------------------


def set_clauses(ts: TokenStream) -> list[SetClause]:
    """``name = expr, (name, name) = expr, ...``"""
    clauses = []
    added = 2
    total = 0
    while True:
        start = ts.start()
        is_row = ts.kind == "("
        if is_row:
            ts.advance()
            names = ts.name_list()
            ts.expect(")")
        else:
            names = [ts.name()]
        ts.expect("=")
        ts.depth += added + 2 * is_row
        expr = expression(ts)
        ts.depth -= added + 2 * is_row
        if is_row and type(expr) is not ScalarSelect:
            size = len(expr.items) if type(expr) is RowValue else 1
            if size != len(names):
                ts.defer(errors.columns_assigned_values(len(names), size))
        clauses.append(SetClause(names, is_row, expr, (start, ts.end())))
        total += len(names)
        if ts.kind != ",":
            if total > 2000:
                ts.defer(errors.too_many_columns_in("set list"))
            return clauses
        ts.advance()
        added = 4


def _where_returning(ts: TokenStream, in_trigger: bool, depth: int) -> tuple[Node | None, Returning | None]:
    where = None
    if ts.kind == "WHERE":
        ts.advance()
        ts.depth += depth
        where = expression(ts)
        ts.depth -= depth
    return where, None if in_trigger else _returning(ts)


def _update(ts: TokenStream, with_: With | None, start: int, in_trigger: bool = False) -> Update:
    ts.advance()
    or_action = _or_action(ts)
    table = _target(ts, True, in_trigger)
    ts.expect("SET")
    ts.depth += 6
    sets = set_clauses(ts)
    ts.depth -= 6
    from_: list[JoinItem] = []
    if ts.kind == "FROM":
        ts.advance()
        ts.depth += 8
        from_ = from_items(ts)
        ts.depth -= 8
    where, returning = _where_returning(ts, in_trigger, 9)
    order_by, limit, offset = ([], None, None) if in_trigger else order_and_limit(ts, 11)
    if order_by and limit is None:
        ts.defer(errors.order_by_without_limit("UPDATE"))
    return Update(with_, or_action, table, sets, from_, where, returning, order_by, limit, offset, (start, ts.end()))


def _delete(ts: TokenStream, with_: With | None, start: int, in_trigger: bool = False) -> Delete:
    ts.advance()
    ts.expect("FROM")
    table = _target(ts, True, in_trigger)
    where, returning = _where_returning(ts, in_trigger, 6)
    order_by, limit, offset = ([], None, None) if in_trigger else order_and_limit(ts, 8)
    if order_by and limit is None:
        ts.defer(errors.order_by_without_limit("DELETE"))
    return Delete(with_, table, where, returning, order_by, limit, offset, (start, ts.end()))
