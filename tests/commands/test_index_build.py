"""CREATE INDEX, REINDEX and VACUUM build trees in bulk: sound, ordered, with as many pages as SQLite 3.40.1 makes."""
from __future__ import annotations

import random

import pytest

import sqlvec

INDEXES = (
    "CREATE INDEX ia ON t(a)", "CREATE INDEX ib ON t(b COLLATE nocase, a DESC)", "CREATE INDEX ic ON t(c)",
    "CREATE INDEX ip ON t(a) WHERE a > 500000",
)  # fmt: skip


def fill(connection, page_size: int, rows: int, seed: int) -> None:
    rng = random.Random(seed)
    connection.execute(f"PRAGMA page_size = {page_size}")
    connection.execute("CREATE TABLE t(a, b, c)")
    connection.execute("BEGIN")
    connection.executemany(
        "INSERT INTO t VALUES (?, ?, ?)",
        [(rng.randrange(10**6), "x" * rng.randrange(40), "y" * rng.randrange(page_size)) for _ in range(rows)],
    )
    connection.execute("COMMIT")
    for sql in INDEXES:
        connection.execute(sql)


QUERIES = (
    "SELECT a FROM t INDEXED BY ia WHERE a > 1000 ORDER BY a",
    "SELECT count(*), min(c), max(c) FROM t INDEXED BY ic WHERE c > 'yyy'",
    "SELECT count(*) FROM t WHERE a > 600000",
    "PRAGMA integrity_check",
    "PRAGMA page_count",
    "PRAGMA freelist_count",
)


@pytest.mark.parametrize(("page_size", "rows"), [(512, 1), (512, 300), (1024, 900), (4096, 2500)])
def test_built_like_the_real_one(oracle, tmp_path, page_size: int, rows: int) -> None:
    answers = []
    for module in (oracle, sqlvec):
        connection = module.connect(str(tmp_path / f"{module.__name__}.db"), isolation_level=None)
        fill(connection, page_size, rows, 7)
        answer = [connection.execute(sql).fetchall() for sql in QUERIES]
        for sql in ("REINDEX", "VACUUM"):
            connection.execute(sql)
            answer += [connection.execute(sql).fetchall() for sql in QUERIES]
        answers.append(answer)
        connection.close()
    assert answers[0] == answers[1]


def test_unique_index_over_equal_values_fails_and_leaves_no_trace() -> None:
    connection = sqlvec.connect(":memory:", isolation_level=None)
    connection.executescript("CREATE TABLE t(a); INSERT INTO t VALUES (1), (NULL), (NULL), (1.0);")
    pages = connection.execute("PRAGMA page_count").fetchone()
    with pytest.raises(sqlvec.IntegrityError, match=r"UNIQUE constraint failed: t\.a"):
        connection.execute("CREATE UNIQUE INDEX i ON t(a)")
    assert connection.execute("PRAGMA page_count").fetchone() == pages
    assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("t",)]
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
