"""UPDATE and DELETE of many rows, where records are stored leaf by leaf: same rows as SQLite 3.40.1, sound trees."""
from __future__ import annotations

import random

import pytest

import sqlvec

STATEMENTS = (
    "UPDATE t SET b = b + 1",
    "UPDATE t SET a = a || 'longer text' WHERE b % 7 = 0",
    "UPDATE t SET a = a || printf('%.*c', 600, 'x') WHERE b % 91 = 0",
    "DELETE FROM t WHERE b % 3 = 0",
    "UPDATE t SET a = substr(a, 1, 3), c = c * 2 WHERE b > 100",
    "DELETE FROM t WHERE id BETWEEN 300 AND 700",
    "UPDATE t SET b = (SELECT max(b) FROM t) + 1 WHERE id % 5 = 0",
    "UPDATE OR IGNORE t SET u = u + 3 WHERE id < 900",
    "UPDATE OR FAIL t SET u = u + 2",
    "UPDATE t SET c = 1 / 0.0 WHERE id % 2",
    "DELETE FROM t WHERE id % 2 = 1",
    "DELETE FROM t",
)


@pytest.mark.parametrize("page_size", [512, 4096])
@pytest.mark.parametrize("index", ["", "CREATE INDEX i ON t(b, a)"])
def test_many_rows(oracle, page_size: int, index: str) -> None:
    pair = [module.connect(":memory:", isolation_level=None) for module in (oracle, sqlvec)]
    rng = random.Random(page_size)
    rows = [(number * rng.choice((1, 1, 1, 2)) + number // 2, "t" * rng.randrange(60), rng.randrange(1000), rng.random(), number) for number in range(1, 1500)]
    rows = list({row[0]: row for row in rows}.values())
    for connection in pair:
        connection.execute(f"PRAGMA page_size = {page_size}")
        connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b INT, c REAL, u UNIQUE)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)
        if index:
            connection.execute(index)
    for sql in STATEMENTS:
        outcomes = []
        for connection in pair:
            try:
                outcomes.append(connection.execute(sql).fetchall())
            except (oracle.Error, sqlvec.Error) as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1], sql
        expected, actual = (connection.execute("SELECT *, changes() FROM t ORDER BY id").fetchall() for connection in pair)
        assert expected == actual, sql
        assert pair[1].execute("PRAGMA integrity_check").fetchall() == [("ok",)], sql
