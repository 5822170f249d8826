"""The printed plans of a list of statements: expected texts are those of SQLite 3.40.1, kept in a file so that no oracle is needed."""
from __future__ import annotations

import pytest

from sqlvec.session.session import Session
from tests.plan_access.plan_texts import as_tree, plan_text, run, sections

CASES = [(name, schema, sql, plan) for name, schema, cases in sections() for sql, plan in cases]
_sessions: dict[str, Session] = {}


def session_of(name: str, schema: list[str]) -> Session:
    if name not in _sessions:
        session = _sessions[name] = Session.open(":memory:")
        for statement in schema:
            run(session, statement)
    return _sessions[name]


@pytest.mark.parametrize(("name", "schema", "sql", "plan"), CASES, ids=[f"{case[0]}-{number}" for number, case in enumerate(CASES)])
def test_plan(name, schema, sql, plan):
    assert plan_text(session_of(name, schema), sql) == plan


def test_the_file_is_what_the_real_one_prints(oracle):
    """The expected texts themselves, against the real SQLite."""
    for _, schema, cases in sections():
        connection = oracle.connect(":memory:", isolation_level=None)
        for statement in schema:
            connection.execute(statement)
        for sql, plan in cases:
            assert as_tree(connection.execute("EXPLAIN QUERY PLAN " + sql)) == plan, sql
