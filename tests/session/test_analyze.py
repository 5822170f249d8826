"""PRAGMA sqlvec_analyze: the counts on known data, under both engines, and that nothing stays behind."""
from __future__ import annotations

import json
from typing import Any

import pytest

import sqlvec


@pytest.fixture
def connection() -> Any:
    made = sqlvec.connect(":memory:", isolation_level=None)
    made.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)")
    made.executemany("INSERT INTO t VALUES(?, ?, ?)", [(number, number % 10, "x" * 40) for number in range(1, 5001)])
    made.execute("CREATE TABLE u(k PRIMARY KEY, v)")
    made.executemany("INSERT INTO u VALUES(?, ?)", [(number, number * 2) for number in range(10)])
    return made


def entries(node: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """(node, engine, rows), top down."""
    found = [(node["node"], node["engine"], node["rows"])]
    for child in node["children"]:
        found += entries(child)
    return found


def analyzed(connection: Any, sql: str, engine: str = "row") -> dict[str, Any]:
    connection.execute(f"PRAGMA sqlvec_engine = {engine}")
    found: dict[str, Any] = json.loads(connection.execute("PRAGMA sqlvec_analyze_json('{}')".format(sql.replace("'", "''"))).fetchone()[0])
    return found


@pytest.mark.parametrize("engine", ["row", "vector"])
def test_rows_of_a_grouped_scan(connection: Any, engine: str) -> None:
    found = analyzed(connection, "SELECT b, count(*) FROM t WHERE a > 2000 GROUP BY b HAVING b < 4 ORDER BY 2 DESC", engine)
    rows = [rows for _, _, rows in entries(found["plan"])]
    assert found["rows"] == 4
    assert {on for _, on, _ in entries(found["plan"])} == {engine}
    assert rows[0] == 4
    assert rows[-1] == rows[-2] == 1200             # HAVING on the key is a condition of the scan
    if engine == "row":
        level = found["plan"]
        while level["children"]:
            level = level["children"][0]
        assert level["rows_visited"] == 3000


@pytest.mark.parametrize("engine", ["row", "vector"])
def test_rows_of_a_join(connection: Any, engine: str) -> None:
    found = analyzed(connection, "SELECT t.a, u.v FROM t JOIN u ON u.k = t.b WHERE t.a <= 100 AND u.v > 4", engine)
    by_name = {name.split(" ")[0]: rows for name, _, rows in entries(found["plan"])}
    assert by_name["Project"] == by_name["Join"] == found["rows"] == 70


def test_loops_and_levels(connection: Any) -> None:
    found = analyzed(connection, "SELECT t.a FROM t JOIN u ON u.k = t.b WHERE t.a <= 100 AND u.v > 4")
    outer, inner = found["plan"]["children"][0]["children"]
    assert (outer["node"], outer["rows"]) == ("SEARCH t USING INTEGER PRIMARY KEY (rowid<?)", 100)
    assert (inner["rows_visited"], inner["rows"]) == (100, 70)


@pytest.mark.parametrize("engine", ["row", "vector"])
def test_subqueries(connection: Any, engine: str) -> None:
    found = analyzed(connection, "SELECT a FROM t WHERE b IN (SELECT k FROM u WHERE v < 4)", engine)
    assert found["rows"] == 1000
    assert [entry["rows"] for entry in found["subqueries"]] == [2]


@pytest.mark.parametrize(("sql", "rows", "source", "check"), [
    ("INSERT INTO u SELECT a + 100, b FROM t WHERE a <= 25", 25, 25, ("SELECT count(*) FROM u", 35)),
    ("INSERT INTO u VALUES(500, 1), (501, 2)", 2, None, ("SELECT count(*) FROM u", 12)),
    ("UPDATE t SET b = b + 1 WHERE a <= 30", 30, 30, ("SELECT sum(b) FROM t WHERE a <= 30", 165)),
    ("DELETE FROM t WHERE b = 3", 500, 500, ("SELECT count(*) FROM t", 4500)),
    ("DELETE FROM t", 5000, None, ("SELECT count(*) FROM t", 0)),
])
def test_writing(connection: Any, sql: str, rows: int, source: int | None, check: tuple[str, int]) -> None:
    plan = analyzed(connection, sql)["plan"]
    assert plan["rows"] == rows
    assert [child["rows"] for child in plan["children"]] == ([] if source is None else [source])
    assert connection.execute(check[0]).fetchone() == (check[1],)


def test_rows_of_triggers_are_not_counted(connection: Any) -> None:
    connection.execute("CREATE TRIGGER tr AFTER INSERT ON u BEGIN UPDATE t SET c = 0 WHERE a < 50; END")
    assert analyzed(connection, "INSERT INTO u VALUES(77, 1)")["plan"]["rows"] == 1


@pytest.mark.parametrize("engine", ["row", "vector"])
def test_bytes_are_those_of_the_tree(connection: Any, engine: str) -> None:
    size = 4096 * connection.execute("PRAGMA page_count").fetchone()[0]
    found = analyzed(connection, "SELECT sum(b) FROM t", engine)
    assert 0.9 * size <= found["plan"]["bytes_read"] <= 1.1 * size
    assert found["plan"]["bytes_read"] <= found["bytes_read"]


def test_times_are_inclusive(connection: Any) -> None:
    node = analyzed(connection, "SELECT b, sum(a) FROM t GROUP BY b")["plan"]
    while node["children"] and node["children"][0]["milliseconds"] is not None:
        assert node["milliseconds"] >= node["children"][0]["milliseconds"]
        node = node["children"][0]


def test_text_form(connection: Any) -> None:
    lines = [line for line, in connection.execute("PRAGMA sqlvec_analyze('SELECT count(*) FROM u WHERE v > 3')")]
    assert lines[0].startswith("Project  (engine=row rows=1 time=")
    assert lines[-2].strip().startswith("SCAN u  (engine=row rows=8 visited=10")
    assert lines[-1].startswith("TOTAL  (rows=1 time=")


def test_the_function_of_the_module(connection: Any) -> None:
    analysis = sqlvec.analyze(connection, "SELECT a FROM t WHERE a < ?", (11,))
    assert analysis.rows == 10
    assert json.loads(analysis.json()) == analysis.as_dict()
    assert analysis.text().count("\n") == 3


def test_other_statements_are_refused(connection: Any) -> None:
    with pytest.raises(sqlvec.OperationalError, match="only SELECT, INSERT, UPDATE and DELETE can be analyzed"):
        connection.execute("PRAGMA sqlvec_analyze('CREATE TABLE z(a)')")
    with pytest.raises(sqlvec.OperationalError, match="no such table: nosuch"):
        connection.execute("PRAGMA sqlvec_analyze('SELECT * FROM nosuch')")


def test_nothing_stays_behind(connection: Any) -> None:
    session = connection._session
    analyzed(connection, "SELECT sum(a) FROM t")
    with pytest.raises(sqlvec.OperationalError):
        connection.execute("PRAGMA sqlvec_analyze('SELECT abs(-9223372036854775807 - 1) FROM t')")
    assert session.measures is None
    assert not {"get", "read_run", "read_runs_into"} & set(vars(session.databases[0].pager))
    assert session.run_context().measures is None


def test_a_run_that_the_vector_engine_gives_up_is_measured_again(connection: Any) -> None:
    found = analyzed(connection, "SELECT a, b FROM t WHERE a % 2 = 1", "restarting")
    assert entries(found["plan"])[0][2] == found["rows"] == 2500
