"""Answers that depend on the chosen plan being carried out right: rewrites, early exits, temporary indexes."""
from __future__ import annotations

import pytest

from sqlvec.session.session import Session
from tests.plan_access.plan_texts import plan_text, run

SCHEMA = """
CREATE TABLE t(a INTEGER PRIMARY KEY, b INT, c TEXT, d REAL);
INSERT INTO t VALUES (1, 9, 'x', 1.0), (2, 7, 'y', 2.0), (3, 5, 'X', 3.5), (4, NULL, 'z', 4.0), (5, 1, 'y', 5.0);
CREATE TABLE u(p, q TEXT);
INSERT INTO u VALUES (1, '1'), (3, '3'), (3, 'x'), (NULL, 'y'), (9, '09');
CREATE INDEX t_b ON t(b);
CREATE VIEW reals AS SELECT d FROM t ORDER BY d LIMIT 4;
CREATE VIEW letters AS SELECT c, count(*) n FROM t GROUP BY c;
"""

CASES = [
    # min() over a list of rowids: every value counts, not the first row alone
    ("SELECT min(b) FROM t WHERE a IN (1, 2, 3)", [(5,)]),
    ("SELECT max(b), a FROM t WHERE a IN (3, 2, 1)", [(9, 1)]),
    ("SELECT min(b), a FROM t", [(1, 5)]),
    ("SELECT max(b), a FROM t", [(9, 1)]),
    ("SELECT min(b), a FROM t WHERE b > 3", [(5, 3)]),
    # constants as the column would hold them
    ("SELECT t.a, u.q FROM t, u WHERE u.q = t.a AND u.q = '3'", [(3, "3")]),
    ("SELECT t.a, u.q FROM t, u WHERE u.q = t.b AND t.b = '9'", [(1, "09")]),
    ("SELECT t.a, u.p FROM t, u WHERE u.p = t.a AND t.a = '3'", [(3, 3), (3, 3)]),
    ("SELECT t.a FROM t, u WHERE u.q = t.c AND t.c = 'x' || ''", [(1,)]),
    ("SELECT t1.a FROM t t1, t t2, u WHERE t1.a = 3 AND t2.a = t1.a AND u.p = t2.a", [(3,), (3,)]),
    # a LEFT JOIN that WHERE makes inner, one that must stay, one that nobody needs
    ("SELECT t.a, u.q FROM t LEFT JOIN u ON u.p = t.a WHERE u.q > '2'", [(3, "3"), (3, "x")]),
    ("SELECT t.a FROM t LEFT JOIN u ON u.p = t.a WHERE u.q IS NULL", [(4,), (5,), (2,)]),
    ("SELECT u.q FROM u LEFT JOIN t ON t.a = u.p", [("1",), ("3",), ("x",), ("y",), ("09",)]),
    ("SELECT DISTINCT t.b FROM t LEFT JOIN u ON u.p = t.a WHERE t.a < 4 ORDER BY t.a", [(9,), (7,), (5,)]),
    # temporary indexes: duplicates, NULL keys, the null row
    ("SELECT u1.q, u2.q FROM u u1, u u2 WHERE u1.p = u2.p AND u1.q <> u2.q", [("3", "x"), ("x", "3")]),
    ("SELECT u1.q, u2.rowid FROM u u1 LEFT JOIN u u2 ON u2.p = u1.p AND u2.q = 'x'", [("1", None), ("3", 3), ("x", 3), ("y", None), ("09", None)]),
    # columns of sub-queries keep their types, whether merged, streamed or stored
    ("SELECT d FROM reals", [(1.0,), (2.0,), (3.5,), (4.0,)]),
    ("SELECT typeof(d), d FROM (SELECT d FROM t WHERE a < 3)", [("real", 1.0), ("real", 2.0)]),
    ("SELECT x.d, y.d FROM reals x JOIN reals y ON x.d = y.d WHERE x.d < 3", [(1.0, 1.0), (2.0, 2.0)]),
    # terms pushed into a grouped view, HAVING of keys only
    ("SELECT * FROM letters WHERE c = 'y'", [("y", 2)]),
    ("SELECT * FROM letters WHERE n > 1", [("y", 2)]),
    ("SELECT c, count(*) FROM t GROUP BY c HAVING c > 'x' AND count(*) = 1", [("z", 1)]),
    # UNION ALL merged into the outer query
    ("SELECT v * 2 FROM (SELECT a v FROM t UNION ALL SELECT p FROM u) WHERE v > 3 ORDER BY v * 2 DESC", [(18,), (10,), (8,)]),
    ("SELECT count(*) FROM (SELECT a v FROM t UNION ALL SELECT p FROM u WHERE p > 1) WHERE v <> 2", [(7,)]),
    # a sub-query whose outer column became a constant
    ("SELECT k, (SELECT count(*) FROM u WHERE u.p = k) FROM (SELECT 3 AS k FROM t WHERE a < 3)", [(3, 2), (3, 2)]),
    # outer joins evaluate the unmatched rows last
    ("SELECT t.a, u.q FROM t RIGHT JOIN u ON u.p = t.a AND t.b > 6", [(1, "1"), (None, "3"), (None, "x"), (None, "y"), (None, "09")]),
    ("SELECT t.a, u.q FROM t FULL JOIN u ON u.p = t.a WHERE t.a IS NULL OR t.a > 3", [(4, None), (5, None), (None, "y"), (None, "09")]),
    # row values, IN lists over an index, OR over two indexes
    ("SELECT a FROM t WHERE (b, a) > (5, 2) ORDER BY b", [(3,), (2,), (1,)]),
    ("SELECT a FROM t WHERE b IN (9, 1, 9, NULL, '7') ORDER BY b DESC", [(1,), (2,), (5,)]),
    ("SELECT a FROM t WHERE b = 7 OR a = 3 OR b = 1", [(2,), (3,), (5,)]),
]


@pytest.fixture(scope="module")
def session():
    session = Session.open(":memory:")
    for statement in SCHEMA.split(";"):
        if statement.strip():
            run(session, statement)
    return session


@pytest.mark.parametrize(("sql", "rows"), CASES)
def test_rows(session, sql, rows):
    assert run(session, sql) == rows


@pytest.mark.parametrize(("sql", "rows"), CASES)
def test_rows_are_those_of_the_real_one(oracle, sql, rows):
    connection = oracle.connect(":memory:")
    connection.executescript(SCHEMA)
    assert connection.execute(sql).fetchall() == rows


def test_an_omitted_join_does_not_hide_the_key_of_a_temporary_index(session):
    sql = "SELECT t.b FROM t RIGHT JOIN u ON +t.c = u.q LEFT JOIN t AS x ON x.a = t.a LEFT JOIN u AS y ON y.p = t.c"
    assert "SEARCH x" not in plan_text(session, sql)
    assert "SEARCH y USING AUTOMATIC COVERING INDEX (p=?) LEFT-JOIN" in plan_text(session, sql)


def test_implied_condition_is_checked_once(session):
    sql = "SELECT * FROM u CROSS JOIN (SELECT max(p) m, q FROM u GROUP BY q) g WHERE u.q = g.q AND g.q IN (SELECT c FROM t)"
    assert plan_text(session, sql).count("LIST SUBQUERY") == 1
    assert run(session, sql) == [(3, "x", 3, "x"), (None, "y", None, "y")]


@pytest.mark.parametrize("engine", ["row", "vector"])
def test_unmatched_rows_of_a_right_join_are_searched_with_nulls(engine):
    """The loops around hold NULL then, and conditions on them may drive the search."""
    session = Session.open(":memory:")
    for statement in ("CREATE TABLE l(x)", "CREATE TABLE r(y, z)", "CREATE INDEX r_y ON r(y)", "INSERT INTO l VALUES (1), (2)",
                      "INSERT INTO r VALUES (1, 5), (2, 6), (NULL, 7), (2, 8)", f"PRAGMA sqlvec_engine = {engine}"):
        run(session, statement)
    sql = "SELECT * FROM l RIGHT JOIN r ON z > 5 AND z < 8 AND l.x > 1 WHERE r.y IS l.x"
    assert plan_text(session, sql).endswith("RIGHT-JOIN r\n    SEARCH r USING INDEX r_y (y=?)")
    assert run(session, sql) == [(2, 2, 6)]
    assert run(session, "SELECT * FROM l RIGHT JOIN r ON z = 6 AND l.x = 1 WHERE r.y IS l.x") == [(None, None, 7)]


COMPOUND_VIEWS = """
CREATE TABLE a(x INT, y TEXT COLLATE NOCASE); CREATE TABLE b(x TEXT, y TEXT);
INSERT INTO a VALUES (1, 'A'), (2, 'b'), (10, 'C'); INSERT INTO b VALUES ('1', 'A'), ('2', 'c'), ('10', 'a');
CREATE VIEW ab AS SELECT x p, y q FROM a UNION ALL SELECT x, y FROM b;
CREATE VIEW ba AS SELECT x p, y q FROM b UNION ALL SELECT x, y FROM a;
CREATE VIEW named_ab(p, q) AS SELECT x, y FROM a UNION ALL SELECT x, y FROM b;
CREATE VIEW named_ba(p, q) AS SELECT x, y FROM b UNION ALL SELECT x, y FROM a;
"""
TERMS = ("p = 1", "p > '1'", "p IN (1, '10')", "q = 'a'", "q BETWEEN 'a' AND 'b'", "q COLLATE BINARY = 'a'", "p + 0 = '2'")


@pytest.mark.parametrize("view", ["ab", "ba", "named_ab", "named_ba"])
def test_terms_on_compounds_of_mixed_columns(oracle, view):
    """Affinity and collation of a term that has gone into the arms, or onto the merged arms."""
    connection = oracle.connect(":memory:")
    connection.executescript(COMPOUND_VIEWS)
    session = Session.open(":memory:")
    for statement in COMPOUND_VIEWS.split(";"):
        if statement.strip():
            run(session, statement)
    for term in TERMS:
        for sql in (f"SELECT * FROM {view} WHERE {term}", f"SELECT count(*) FROM {view} WHERE {term}"):
            assert run(session, sql) == connection.execute(sql).fetchall(), sql
