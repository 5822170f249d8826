"""The door of the room: ``parse_statement`` turns text into one statement, ``parse_expression`` into one expression.

The first word chooses the statement's family, and only that family's module is loaded (``_FAMILIES``).

Invariants
 1. Offsets in nodes and errors are character offsets in the text given, whatever ``start`` was.
 2. Empty statements (lone semicolons, blanks, comments) before a statement are skipped, as SQLite's prepare does.
 3. After the returned end offset the next statement may be parsed; an error leaves no such offset.
"""
from __future__ import annotations

from sqlvec.parse.ast import Node, Statement
from sqlvec.parse.expressions import expression
from sqlvec.parse.lexer import TokenStream
from sqlvec.resolve import resolve

_FAMILIES = {
    "SELECT": "sqlvec.parse.select:statement_select",
    "VALUES": "sqlvec.parse.select:statement_select",
    "WITH": "sqlvec.parse.dml:statement_with",
    "INSERT": "sqlvec.parse.dml:statement_insert",
    "REPLACE": "sqlvec.parse.dml:statement_insert",
    "UPDATE": "sqlvec.parse.dml:statement_update",
    "DELETE": "sqlvec.parse.dml:statement_delete",
    "CREATE": "sqlvec.parse.ddl:create",
    "DROP": "sqlvec.parse.ddl:drop",
    "ALTER": "sqlvec.parse.ddl:alter",
    "PRAGMA": "sqlvec.parse.admin:pragma",
    "BEGIN": "sqlvec.parse.admin:begin",
    "COMMIT": "sqlvec.parse.admin:commit",
    "END": "sqlvec.parse.admin:commit",
    "ROLLBACK": "sqlvec.parse.admin:rollback",
    "SAVEPOINT": "sqlvec.parse.admin:savepoint",
    "RELEASE": "sqlvec.parse.admin:release",
    "ATTACH": "sqlvec.parse.admin:attach",
    "DETACH": "sqlvec.parse.admin:detach",
    "VACUUM": "sqlvec.parse.admin:vacuum",
    "ANALYZE": "sqlvec.parse.admin:analyze",
    "REINDEX": "sqlvec.parse.admin:reindex",
}


def parse_statement(sql: str, start: int = 0, is_stored: bool = False) -> tuple[Statement | None, int]:
    """The first statement of ``sql`` from ``start`` on, and the offset just after its ``;`` (or the end of the text).

    The statement is None if only blanks, comments and semicolons are left.  ``is_stored``: it comes from a schema, perhaps an old one.
    """
    ts = TokenStream(sql, start)
    ts.is_stored = is_stored
    while ts.kind == ";":
        ts.advance()
    if ts.kind == "EOF":
        return None, ts.ends[ts.position]
    statement = _explain(ts) if ts.kind == "EXPLAIN" else _statement(ts)
    ts.finish()
    statement.parameter_count = ts.parameter_count
    statement.parameter_names = ts.parameter_names
    return statement, ts.ends[ts.position]


def _statement(ts: TokenStream) -> Statement:
    family = _FAMILIES.get(ts.kind)
    if family is None:
        ts.fail()
        raise AssertionError
    statement: Statement = resolve(family)(ts)
    return statement


def _explain(ts: TokenStream) -> Statement:
    start = ts.start()
    ts.advance()
    query_plan = ts.accept("QUERY")
    if query_plan:
        ts.expect("PLAN")
    ts.depth = 1
    statement = _statement(ts)
    statement.parameter_count = ts.parameter_count
    statement.parameter_names = ts.parameter_names
    explained: Statement = resolve("sqlvec.parse.ast_ddl:Explain")(query_plan, statement, (start, ts.end()))
    return explained


def parse_expression(sql: str) -> Node:
    """A lone expression: the text of a stored CHECK, DEFAULT or generated column."""
    ts = TokenStream(sql)
    node = expression(ts)
    ts.finish()
    return node
