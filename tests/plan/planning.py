"""A planner without a database: catalogs made of CREATE statements."""
from __future__ import annotations

from sqlvec.errors import SqlError
from sqlvec.functions.registry import FunctionRegistry
from sqlvec.parse.parser import parse_statement
from sqlvec.plan import physical
from sqlvec.plan.planner import PlanContext, plan_statement
from sqlvec.schema.catalog import CatalogSet
from sqlvec.schema.load import catalog_of_rows
from sqlvec.settings import Settings

SCHEMA = (
    "CREATE TABLE t(a, b INTEGER, c TEXT COLLATE NOCASE, d REAL)",
    "CREATE TABLE u(x INTEGER PRIMARY KEY, y TEXT NOT NULL, a)",
    "CREATE TABLE w(k TEXT PRIMARY KEY, v) WITHOUT ROWID",
    "CREATE INDEX tb ON t(b)",
    "CREATE VIEW v(p, q) AS SELECT a, b FROM t",
    "CREATE VIEW broken AS SELECT nosuch FROM t",
    "CREATE VIEW missing AS SELECT * FROM nosuch",
    "CREATE VIEW loop1 AS SELECT * FROM loop2",
    "CREATE VIEW loop2 AS SELECT * FROM loop1",
    "CREATE VIEW narrow(p) AS SELECT a, b FROM t",
)


def schema_rows(statements=SCHEMA):
    rows = []
    for number, sql in enumerate(statements, 1):
        words = sql.replace("(", " ").split()
        kind, name = words[1].lower(), words[2]
        table = words[4] if kind == "index" else name
        rows.append((number, kind, name, table, 0 if kind == "view" else number + 1, sql))
    return rows


def context(statements=SCHEMA) -> PlanContext:
    made = [catalog_of_rows(0, schema_rows(statements)), catalog_of_rows(1, [], name="temp")]
    catalogs = CatalogSet(["main", "temp"], lambda number: made[number])
    return PlanContext(catalogs, FunctionRegistry(), Settings(), lambda name: name.upper() in ("BINARY", "NOCASE", "RTRIM"))


def plan(sql: str, statements=SCHEMA) -> physical.Plan:
    statement, _ = parse_statement(sql)
    return plan_statement(statement, context(statements))


def error(sql: str) -> str:
    try:
        plan(sql)
    except SqlError as caught:
        return caught.message
    return "no error"


def shape(sql: str) -> str:
    """The operators of a plan, outermost first: ``Limit(Project(Join))``."""
    return _shape(plan(sql).root)


def _shape(node: physical.Node) -> str:
    inner = ", ".join(_shape(child) for child in node.inputs())
    name = type(node).__name__
    return f"{name}({inner})" if inner else name
