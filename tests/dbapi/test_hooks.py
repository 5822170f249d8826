"""Progress handler and trace callback: what is counted, and that nothing is when nobody asks."""
from __future__ import annotations

import pytest

import sqlvec
from sqlvec.session.hooks import LOOK_UNITS, expanded

COUNT = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c {}) SELECT count(*) FROM c"


@pytest.fixture
def connection() -> sqlvec.Connection:
    return sqlvec.connect(":memory:")


def calls_of(connection: sqlvec.Connection, every: int, sql: str) -> int:
    calls = []
    connection.set_progress_handler(lambda: calls.append(1), every)
    connection.execute(sql).fetchall()
    connection.set_progress_handler(None, 0)
    return len(calls)


def test_an_endless_query_is_interrupted(connection: sqlvec.Connection) -> None:
    left = [20]

    def handler() -> bool:
        left[0] -= 1
        return left[0] == 0

    connection.set_progress_handler(handler, 1000)
    with pytest.raises(sqlvec.OperationalError, match=r"^interrupted$") as caught:
        connection.execute(COUNT.format("")).fetchall()
    assert caught.value.sqlite_errorname == "SQLITE_INTERRUPT"
    assert left == [0]


def test_calls_follow_the_work(connection: sqlvec.Connection) -> None:
    few = calls_of(connection, 10 * LOOK_UNITS, COUNT.format("LIMIT 100"))
    assert 8 <= few <= 12
    assert calls_of(connection, 10 * LOOK_UNITS, COUNT.format("LIMIT 1000")) >= 9 * few
    assert calls_of(connection, 100 * LOOK_UNITS, COUNT.format("LIMIT 1000")) == pytest.approx(10, abs=2)


@pytest.mark.parametrize("engine", ["row", "vector"])
def test_scans_are_counted_by_both_engines(connection: sqlvec.Connection, engine: str) -> None:
    connection.execute("CREATE TABLE t(a, b)")
    connection.executemany("INSERT INTO t VALUES(?, ?)", [(number, "x" * 50) for number in range(20000)])
    connection.execute(f"PRAGMA sqlvec_engine = {engine}")
    assert calls_of(connection, 1, "SELECT sum(a) FROM t WHERE a % 7 = 1") >= 3
    connection.set_progress_handler(lambda: 1, 2 * LOOK_UNITS)
    with pytest.raises(sqlvec.OperationalError, match="interrupted"):
        connection.execute("SELECT sum(a) FROM t WHERE a % 7 = 1").fetchall()


def test_an_interrupted_write_leaves_nothing(connection: sqlvec.Connection) -> None:
    connection.execute("CREATE TABLE t(a)")
    connection.executemany("INSERT INTO t VALUES(?)", [(number,) for number in range(5000)])
    connection.commit()
    connection.set_progress_handler(lambda: 1, 5 * LOOK_UNITS)
    with pytest.raises(sqlvec.OperationalError, match="interrupted"):
        connection.execute("UPDATE t SET a = -1")
    connection.set_progress_handler(None, 0)
    assert connection.execute("SELECT min(a), max(a) FROM t").fetchone() == (0, 4999)


def test_without_a_handler_the_flag_is_a_plain_list(connection: sqlvec.Connection) -> None:
    assert type(connection._session.interrupt) is list
    connection.set_progress_handler(lambda: 0, 5)
    assert type(connection._session.interrupt) is not list
    connection.set_progress_handler(None, 5)
    assert type(connection._session.interrupt) is list


@pytest.mark.parametrize(("text", "names", "values", "result"), [
    ("select ?, ?2, ?", [None, "?2", None], (1, "it's", b"\x01"), "select 1, 'it''s', x'01'"),
    ("select :a, '?', :b, :a -- ?", [":a", ":b"], (1.5, None), "select 1.5, '?', NULL, 1.5 -- ?"),
    ("select ?3", [None, None, "?3"], (1, 2), "select NULL"),
    ("select $x::y(z), @q", ["$x::y(z)", "@q"], (1e100, -7), "select 1.0e+100, -7"),
])
def test_expanded(text: str, names: list[str | None], values: tuple[object, ...], result: str) -> None:
    assert expanded(text, names, values) == result


def test_a_forgotten_cursor_gives_its_locks_back(connection: sqlvec.Connection) -> None:
    connection.execute("CREATE TABLE t(a)")
    connection.executemany("INSERT INTO t VALUES(?)", [(1,), (2,)])
    cursor = connection.execute("SELECT * FROM t")
    with pytest.raises(sqlvec.OperationalError, match=r"^database table is locked$"):
        connection.execute("DROP TABLE t")
    assert cursor.fetchall() == [(1,), (2,)]
    cursor = connection.execute("SELECT * FROM t")
    del cursor
    connection.execute("DROP TABLE t")
