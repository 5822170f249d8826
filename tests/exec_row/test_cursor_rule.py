"""A SELECT sees what its own connection writes ahead of it, whatever path it takes."""
from __future__ import annotations

import random
from typing import Any

import pytest

import sqlvec

QUERIES = (
    "select a from t",
    "select a, c from t",
    "select a, c from t order by a desc",
    "select b, a from t where b > 3",
    "select b, c from t where b between 3 and 9 order by b desc",
    "select t.a, x.a from t join t x on x.b = t.a where t.a < 40",
    "select k from w",
    "select t.a, w.k from t left join w on w.v = t.a where t.a < 60",
    "select a from t where a in (5, 7, 100, 200, 50)",
    "select a from t where b = 3 or a between 10 and 30",
    "select a, c from t where a > 10 and a <= 200",
)
CHANGES = (
    "delete from t where a = ?",
    "insert into t values (?, 3, 'x')",
    "update t set b = b + 1 where a = ?",
    "delete from t where a > ? and a < ? + 20",
    "insert into t values (null, ?, 'y')",
    "delete from w where v = ?",
    "insert into w values (?, ?)",
    "update t set a = a + 1000 where a = ?",
)


def run(module: Any, query: str, seed: int) -> list[Any]:
    chance = random.Random(seed)
    connection = module.connect(":memory:", isolation_level=None)
    if module is sqlvec:
        connection.execute("pragma sqlvec_engine = row")
    connection.execute("create table t(a integer primary key, b, c)")
    connection.execute("create index i on t(b)")
    connection.execute("create table w(k text primary key, v) without rowid")
    connection.execute("begin")
    for number in range(200):
        connection.execute("insert into t values (?, ?, ?)", (number, number % 17, str(number)))
        connection.execute("insert into w values (?, ?)", (f"{number:03}", number))
    connection.execute("commit")
    rows: list[Any] = []
    for row in connection.execute(query):
        rows.append(row)
        if chance.random() < 0.2:
            change, value = chance.choice(CHANGES), chance.randint(0, 300)
            try:
                connection.execute(change, (value,) * change.count("?"))
            except module.Error as error:
                rows.append(str(error))
        if len(rows) > 500:
            break
    return rows


@pytest.mark.parametrize("query", QUERIES)
def test_rows_while_writing(oracle: Any, query: str) -> None:
    for seed in range(3):
        assert run(oracle, query, seed) == run(sqlvec, query, seed), seed
