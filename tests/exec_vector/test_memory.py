"""Operators beyond the memory budget: the same rows in the same order, from temporary files."""
from __future__ import annotations

import os
import random

import pytest

import sqlvec.exec.bridge as bridge
from sqlvec.columnar.vector import from_values
from sqlvec.exec.vector import aggregate, join, runs
from sqlvec.exec.vector.runs import ExternalSort, Term
from sqlvec.session.session import Session
from tests.exec_vector import mixed

sqlite3 = pytest.importorskip("sqlite3", reason="the oracle is Python's sqlite3 module")

QUERIES = """
select m, count(*), sum(r), avg(i), min(t), max(m), id, r from t group by m
select t, max(i), id, r from t group by t
select t collate nocase, i % 5, total(r), group_concat(id) from t group by 1, 2
select i % 40, count(distinct m), sum(distinct r), group_concat(distinct t), min(distinct m) from t group by 1
select count(distinct m), sum(distinct r), avg(distinct i), group_concat(distinct t), max(distinct t) from t
select count(distinct m), sum(distinct r) filter (where i > 20) from t
select i, sum(r) from t group by i order by i desc
select id, count(*), sum(r) from t group by id
select distinct m from t
select distinct t, i from t
select distinct t collate nocase, m from t where r > 0.2
select distinct i % 70, t from t limit 50 offset 100
select m, i from t union select r, id from t
select t from t intersect select t collate nocase from t where i < 30
select m from t except select i from t
select i, t from t except select i + 1, t from t
select i from t intersect select id from t where id % 3
select m, r, t from t order by t collate nocase desc, m, r desc nulls first
select t, id from t order by i, r
select i, sum(r) over (partition by i order by r) from t
""".strip().splitlines()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    made = tmp_path_factory.mktemp("memory") / "memory.db"
    connection = sqlite3.connect(made)
    connection.execute("create table t(id integer primary key, i int, r real, m, t text)")
    chance = random.Random(11)
    rows = []
    for number in range(6000):
        mixed = chance.choice([None, chance.randrange(3000), float(chance.randrange(3000)), f"text {chance.randrange(3000)}", b"blob"])
        text = chance.choice([None, "Abc", "abc", "ABC", f"a longer text {chance.randrange(4000)}", f"x{chance.randrange(99)}"])
        rows.append((number, chance.choice([None, chance.randrange(100)]), chance.choice([chance.random(), None, float(chance.randrange(50))]), mixed, text))
    connection.executemany("insert into t values(?,?,?,?,?)", rows)
    connection.commit()
    connection.close()
    return made


def rows_of(path, sql, budget):
    session = Session.open(str(path))
    session.settings.engine = "one_page"
    session.settings.memory_budget = budget
    try:
        statement, _ = session.prepare(sql)
        return [tuple(row) for row in statement]
    finally:
        session.close()


@pytest.mark.parametrize("budget", [5_000, 100_000])
@pytest.mark.parametrize("sql", QUERIES)
def test_same_rows(path, sql, budget, monkeypatch):
    monkeypatch.setattr(aggregate, "FEW_GROUPS", 0)
    monkeypatch.setattr(aggregate, "GROUPS_HELD", 70)
    monkeypatch.setattr(runs, "FRAME_ROWS", 64)
    monkeypatch.setattr(runs, "OUTPUT_ROWS", 100)
    monkeypatch.setattr(runs, "MOST_RUNS", 7)
    made = []
    start = runs.ExternalSort._frames
    monkeypatch.setattr(runs.ExternalSort, "_frames", lambda self, blocks: made.append(1) or start(self, blocks))
    connection = sqlite3.connect(path)
    expected = connection.execute(sql).fetchall()
    connection.close()
    before = bridge.restarts
    descriptors = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert repr(expected) == repr(rows_of(path, sql, budget))
    assert before == bridge.restarts, "a query of this list must not fall back"
    if budget == 5_000 and "over" not in sql and "group by id" not in sql:
        assert made, "nothing was written"
    if descriptors:
        assert len(os.listdir("/proc/self/fd")) == descriptors, "a temporary file was left open"


def test_temporary_files_go_with_an_unfinished_statement(path, tmp_path):
    session = Session.open(str(path))
    session.settings.engine = "one_page"
    session.settings.memory_budget = 5_000
    session.settings.temp_store_directory = str(tmp_path)
    statement, _ = session.prepare("select m, r, t from t order by t, m, r")
    rows = iter(statement)
    next(rows)
    session.interrupt[0] = True
    with pytest.raises(Exception, match="interrupt"):
        list(rows)
    assert os.listdir(tmp_path) == []
    session.close()


@pytest.mark.parametrize("most", [2, 64])
def test_external_sort_is_stable(most, monkeypatch):
    monkeypatch.setattr(runs, "FRAME_ROWS", 5)
    monkeypatch.setattr(runs, "MOST_RUNS", most)
    chance = random.Random(3)
    values = [(chance.choice([None, chance.randrange(9), chance.random(), "x" * chance.randrange(12)]), number) for number in range(700)]
    sort = ExternalSort(["key", "number"], [Term("key")], 2000, "")
    for start in range(0, len(values), 30):
        block = values[start:start + 30]
        sort.add({"key": from_values([key for key, _ in block]), "number": from_values([number for _, number in block])}, len(block))
    found = [pair for block in sort.rows() for pair in zip(block["key"].values(), block["number"].values(), strict=True)]
    assert found == sorted(values, key=lambda pair: (pair[0] is not None, type(pair[0]) is str, pair[0] or 0 if type(pair[0]) is not str else pair[0]))


JOINS = """
select x.id, y.v from t1 x left join t2 y on y.k = x.id and y.w > 3
select x.id, y.q, y.p from t1 x left join t3 y on y.q = x.a where x.b < 50 or y.p = 'b'
select x.id, y.v, y.w from t1 x join t2 y on y.k = x.id where x.a > 0
select x.c, sum(y.v), count(*) from t1 x join t2 y on y.c = x.c group by x.c
select x.id, y.v from t1 x left join t2 y on y.c = x.c and y.v > x.b
select count(*) from t1 x join t2 y on y.c = x.c
select x.id, s.v from t1 x left join (select k, max(v) as v from t2 group by k) s on s.k = x.id
select id from t1 where exists (select 1 from t2 where t2.k = t1.id and t2.v > t1.b)
select id, (select sum(v) from t2 where t2.k = t1.id) from t1
""".strip().splitlines()


@pytest.fixture(scope="module")
def mixed_path(tmp_path_factory):
    made = tmp_path_factory.mktemp("joins") / "mixed.db"
    connection = sqlite3.connect(made)
    mixed.make(connection)
    connection.close()
    return made


@pytest.mark.parametrize("budget", [3_000, 20_000])
@pytest.mark.parametrize("small", [0, 100_000])
@pytest.mark.parametrize("sql", JOINS)
def test_joins_by_blocks(mixed_path, sql, small, budget, monkeypatch):
    monkeypatch.setattr(join, "SMALL_INNER", small)
    monkeypatch.setattr(join, "FEW_PROBES", -1)
    for name in ("ROWID_PROBE_RATIO", "INDEX_PROBE_RATIO"):
        monkeypatch.setattr(join, name, 10**9)
    monkeypatch.setattr(runs, "FRAME_ROWS", 50)
    monkeypatch.setattr(runs, "OUTPUT_ROWS", 40)
    by_blocks = []
    run = join.Step._by_blocks
    monkeypatch.setattr(join.Step, "_by_blocks", lambda self, batches: by_blocks.append(1) or run(self, batches))
    connection = sqlite3.connect(mixed_path)
    connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    expected = connection.execute(sql).fetchall()
    connection.close()
    assert repr(expected) == repr(rows_of(mixed_path, sql, budget))
    if budget == 3_000 and small == 100_000 and "(select" not in sql:
        assert by_blocks
