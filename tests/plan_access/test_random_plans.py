"""Random queries against the real SQLite: the printed plans must be the same.

A few plans in a thousand differ where two ways cost the same; a family with more differences than that has a broken rule.
"""
from __future__ import annotations

import random

import pytest

from sqlvec.session.session import Session
from tests.plan_access.plan_texts import as_tree, plan_text, run
from tests.plan_access.random_queries import random_query, random_schema

INNER = (",", ",", ",", " JOIN", " CROSS JOIN", " LEFT JOIN")
OUTER = (" JOIN", " LEFT JOIN", " RIGHT JOIN", " FULL JOIN")
FAMILIES = {"one table": ((), False), "joins": (INNER, False), "outer joins": (OUTER, False), "statistics": (INNER, True)}
SCHEMAS = 12
QUERIES = 10


@pytest.mark.parametrize("family", FAMILIES)
def test_plans_are_those_of_the_real_one(oracle, family):
    joins, analysed = FAMILIES[family]
    compared, different = 0, []
    for seed in range(SCHEMAS):
        generator = random.Random(f"{family}{seed}")
        connection = oracle.connect(":memory:", isolation_level=None)
        session = Session.open(":memory:")
        schema = random_schema(generator, generator.randint(1, 4), analysed)
        for statement in schema:
            connection.execute(statement)
            run(session, statement)
        tables = [(name, [row[1] for row in connection.execute(f"PRAGMA table_info({name})")])
                  for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 't%'").fetchall()]
        for _ in range(QUERIES):
            sql = random_query(generator, tables, joins)
            try:
                wanted = as_tree(connection.execute("EXPLAIN QUERY PLAN " + sql))
            except oracle.Error:
                continue
            compared += 1
            got = plan_text(session, sql)
            if got != wanted:
                different.append(f"{schema}\n{sql}\nwanted\n{wanted}\ngot\n{got}")
    assert compared > SCHEMAS * QUERIES // 2
    assert len(different) <= compared // 100, "\n\n".join(different[:4])
