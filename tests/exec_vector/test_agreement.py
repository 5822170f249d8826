"""The vector engine against the real library: the same rows, in the same order, in the same storage classes."""
from __future__ import annotations

import pytest

import sqlvec.exec.bridge as bridge
from sqlvec.session.session import Session
from tests.exec_vector import mixed

sqlite3 = pytest.importorskip("sqlite3", reason="the oracle is Python's sqlite3 module")

QUERIES = """
select a, b, c from t1 where a > 5 and b < 20
select * from t1 where c like '%world%' or d = 'ABC'
select count(*), count(b), sum(a), avg(a), total(b), min(c), max(c) from t1
select d, count(*), sum(b), min(id), max(e) from t1 group by d
select a, c, sum(b), b from t1 group by a, c order by 3 desc, 1
select c, max(b), id, f from t1 group by c
select min(b), id, c from t1 group by d
select group_concat(c, '/'), count(distinct d), sum(distinct a) from t1 group by f > '1995'
select distinct d, a from t1
select distinct c collate rtrim from t1
select a % 7, a / 3, a * b, a - b, -a, a & 12, a | 3, e + 1 from t1
select case when a < 0 then 'neg' when a is null then c else b end, coalesce(a, b, c), iif(a > b, a, b) from t1
select id from t1 where a in (1, 2, 5.0, 'x', null) and c not in ('a', 'b')
select id from t1 where not (a between 3 and 40) or b is null
select substr(c, 2, 3), substr(d, 1, 2), upper(c), typeof(e), length(c) from t1
select a, b, c, d, e from t1 order by e, c desc, id
select d, id from t1 order by d, b desc nulls last limit 40 offset 3
select e, id from t1 order by e desc limit 25
select * from t2 where late = 'later' order by a
select late, count(*) from t2 group by late
select x.id, y.v, y.w from t1 x join t2 y on y.k = x.id where x.a > 0
select x.id, y.v from t1 x left join t2 y on y.k = x.id and y.w > 3
select x.id, y.q, y.p from t1 x left join t3 y on y.q = x.a where x.b < 50 or y.p = 'b'
select x.c, sum(y.v), count(*) from t1 x join t2 y on y.c = x.c group by x.c
select x.id, count(*) from t2 y join t1 x on x.id = y.k join t3 z on z.q = y.a group by x.id
select id from t1 where exists (select 1 from t2 where t2.k = t1.id and t2.v > t1.b)
select id from t1 where not exists (select 1 from t2 where t2.k = t1.id)
select id, (select sum(v) from t2 where t2.k = t1.id), (select w from t2 where t2.k = t1.id) from t1
select id from t1 where b > (select avg(v) from t2 where t2.k = t1.id)
select id from t1 where a in (select w from t2 where v > 10)
select id from t1 where a not in (select w from t2 where w is not null)
select a from t1 union select w from t2
select c from t1 intersect select c from t2
select a, c from t1 except select a, c from t2
select a, 1 from t1 union all select v, 2 from t2
select n, count(*) from (select a % 10 as n, c from t1 where b > 1) group by n having count(*) > 2
select sum(s) from (select sum(b) as s from t1 group by d)
select p, sum(q) from t3 group by p
select q, p from t3 where q > 50 and p < 'd'
select c, count(*) from t1 where c > 'a' group by c order by c desc limit 5
select id, a, b from t1 where id between 40 and 300 and a > 2
select a, v, w from t2 where a > 3 and a < 90
select a, count(*), sum(v) from t2 where a = 5 group by a
select c, id from t1 where c >= 'abc'
select q, p, z from t3 where q = 7 or q > 60
select x.id, y.v from t2 y join t1 x on x.id = y.k where y.k > 20
select strftime('%Y', f), count(*), sum(b) from t1 group by 1
select count(*) from t1 a, t3 b where a.a = b.q and a.c is not b.z
""".strip().splitlines()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    made = tmp_path_factory.mktemp("vector") / "mixed.db"
    connection = sqlite3.connect(made)
    mixed.make(connection)
    connection.close()
    return made


def rows_of(path, sql, engine, budget=None):
    session = Session.open(str(path))
    session.settings.engine = engine
    if budget is not None:
        session.settings.memory_budget = budget
    try:
        statement, _ = session.prepare(sql)
        return [tuple(row) for row in statement]
    finally:
        session.close()


def expected_rows(path, sql):
    connection = sqlite3.connect(path)
    connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize("engine", ["vector-strict", "one_page", "declining"])
@pytest.mark.parametrize("sql", QUERIES)
def test_same_rows(path, sql, engine):
    before = bridge.restarts
    assert repr(expected_rows(path, sql)) == repr(rows_of(path, sql, engine))
    assert before == bridge.restarts, "a query of this list must not fall back"


@pytest.mark.parametrize("sql", QUERIES[:6] + QUERIES[20:24])
def test_restart_drops_what_was_delivered(path, sql):
    for _ in range(3):
        assert repr(expected_rows(path, sql)) == repr(rows_of(path, sql, "restarting"))


STRATEGIES = {
    "build the inner": {"SMALL_INNER": 0, "ROW_PROBE_RATIO": 10**9, "ROWID_PROBE_RATIO": 10**9, "INDEX_PROBE_RATIO": 10**9, "FEW_PROBES": -1},
    "stream the inner": {"SMALL_INNER": 10**9, "ROW_PROBE_RATIO": 10**9, "ROWID_PROBE_RATIO": 10**9, "INDEX_PROBE_RATIO": 10**9, "FEW_PROBES": -1},
    "seek": {"SMALL_INNER": 10**9, "ROWID_PROBE_RATIO": 0, "INDEX_PROBE_RATIO": 0, "FEW_PROBES": -1},
    "probe by rows": {"SMALL_INNER": 10**9, "ROW_PROBE_RATIO": 0, "FEW_PROBES": 10**9},
    "small blocks": {"SMALL_INNER": 50, "BLOCK": 7, "COLLECTED": 20, "PROBED_ROWS": 11, "ROWID_PROBE_RATIO": 2, "INDEX_PROBE_RATIO": 2},
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("sql", QUERIES[20:29] + QUERIES[-1:])
def test_join_strategies(path, sql, strategy, monkeypatch):
    join = pytest.importorskip("sqlvec.exec.vector.join")
    for name, number in STRATEGIES[strategy].items():
        monkeypatch.setattr(join, name, number)
    assert repr(expected_rows(path, sql)) == repr(rows_of(path, sql, "vector-strict"))


LISTED = """
select x.id, x.c, y.v from t1 x join t2 y on y.k = x.id where x.id in (select k from t2 where v > 5)
select x.k, x.v, y.id, y.c from t2 x join t1 y on y.id = x.k where x.k in (select id from t1 where b > 3)
select x.k, x.v, x.c from t2 x where x.k in (select k from t2 where w > 5) and x.v > (select avg(v) from t2 z where z.k = x.k)
select x.a, y.id, y.c, z.c, z.v from t2 x left join t1 y on y.id = x.k and y.b > 2 left join t2 z on z.k = y.id where x.a > 0
""".strip().splitlines()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("sql", LISTED)
def test_rows_of_listed_keys_and_kept_texts(path, sql, strategy, monkeypatch):
    join = pytest.importorskip("sqlvec.exec.vector.join")
    for name, number in STRATEGIES[strategy].items():
        monkeypatch.setattr(join, name, number)
    assert repr(expected_rows(path, sql)) == repr(rows_of(path, sql, "vector-strict"))


@pytest.mark.parametrize("budget", [0, 5000, 60000])
@pytest.mark.parametrize("sql", [sql for sql in QUERIES if "order by" in sql])
def test_sorts_beyond_the_budget(path, sql, budget):
    assert repr(expected_rows(path, sql)) == repr(rows_of(path, sql, "vector-strict", budget))


def test_row_errors_come_from_the_row_engine(path):
    session = Session.open(str(path))
    session.settings.engine = "vector"
    statement, _ = session.prepare("select abs(-9223372036854775807 - a) from t1 where a = 1")
    with pytest.raises(Exception, match="integer overflow"):
        list(statement)
    session.close()
