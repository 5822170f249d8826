"""Window functions on the vector engine against the real library and against the row engine."""
from __future__ import annotations

import random

import pytest

import sqlvec.exec.bridge as bridge
from sqlvec.exec.vector import window, window_layout
from sqlvec.session.session import Session

sqlite3 = pytest.importorskip("sqlite3", reason="the oracle is Python's sqlite3 module")

OVER = ("", "partition by g", "order by o", "partition by g order by o", "partition by g order by o desc, id", "partition by t collate nocase order by g",
        "partition by g % 2 order by t", "order by r")
FRAMES = ("", "rows unbounded preceding", "groups unbounded preceding", "rows between unbounded preceding and unbounded following",
          "rows between unbounded preceding and 2 following", "rows between unbounded preceding and 3 preceding",
          "groups between unbounded preceding and 1 following", "groups between unbounded preceding and 2 preceding")
SLIDING = ("rows 3 preceding", "rows between 2 preceding and 2 following", "rows between current row and 3 following", "rows current row",
           "rows between 5 preceding and 2 preceding", "rows between 2 preceding and 5 preceding", "rows between 1 preceding and unbounded following",
           "rows between current row and unbounded following")
RANKS = "row_number() over w, rank() over w, dense_rank() over w, percent_rank() over w, cume_dist() over w, ntile(3) over w"
SHIFTS = "lag(t) over w, lead(r, 2) over w, lag(i, 3, 'none') over w, lead(m, o, id) over w, lag(m, o) over w, lead(t, null) over w"
PLACES = "first_value(t) over w, last_value(m) over w, nth_value(i, 2) over w, nth_value(r, id) over w"
SUMS = "count(*) over w, count(m) over w, sum(i) over w, total(i) over w, avg(i) over w, sum(r) over w, avg(r) over w, " \
    "sum(m) over w, total(m) over w, avg(m) over w"
FILTERED = "count(*) filter (where id % 3) over w, sum(r) filter (where o > 2) over w, " \
    "sum(m) filter (where i is null) over w, min(r) filter (where id % 5 = 1) over w"
EXTREMES = "min(i) over w, max(i) over w, min(r) over w, max(r) over w, min(m) over w, max(m) over w, " \
    "min(t) over w, max(t collate nocase) over w, min(x) over w, max(x) over w"


def queries():
    for over in OVER:
        yield f"select id, {RANKS} from t window w as ({over})"
        yield f"select id, {SHIFTS} from t window w as ({over})"
    for number, frame in enumerate(FRAMES):
        for over in OVER:
            if not ("groups" in frame and "order by" not in over):
                yield f"select id, {(SUMS, EXTREMES)[number % 2]} from t window w as ({over} {frame})"
                yield f"select id, {(PLACES, FILTERED)[number % 2]} from t window w as ({over} {frame})"
                yield f"select id, {(EXTREMES, SUMS)[number % 2]} from t window w as ({over} {frame})"
    for frame in SLIDING:
        for over in OVER[:5]:
            yield f"select id, {SUMS} from t window w as ({over} {frame})"
            yield f"select id, {PLACES} from t window w as ({over} {frame})"
    yield "select g, sum(r) over (partition by g order by id), rank() over (order by r desc) from t order by id limit 20"
    yield "select * from (select id, rank() over (partition by g order by r) as place from t) where place <= 2"
    yield "select g, s, rank() over (order by s desc) from (select g, sum(i) as s from t group by g)"
    yield "select g, sum(sum(i)) over (order by g) from t group by g"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    made = tmp_path_factory.mktemp("window") / "window.db"
    connection = sqlite3.connect(made)
    connection.execute("create table t(id integer primary key, g int, o int, i int, r real, m, t text, x real)")
    chance = random.Random(5)
    rows = []
    for number in range(700):
        g = number // 120 if number < 480 else chance.randrange(200)
        mixed = chance.choice([None, chance.randrange(-9, 99), chance.random() * 1e3, "7", "4.5x", b"12", "abc", 1 << 40])
        rows.append((number + 1, chance.choice([g, g, g, None]), chance.randrange(6), chance.choice([None, chance.randrange(-1000, 1 << 45), number]),
                     chance.choice([None, chance.random(), chance.uniform(-1e6, 1e6), 1e16, 0.1]), mixed,
                     chance.choice([None, "a", "A", "b", "long text of more than eight bytes", "B", ""]), chance.choice([0.0, -0.0, None, 1.0])))
    connection.executemany("insert into t values(?,?,?,?,?,?,?,?)", rows)
    connection.commit()
    connection.close()
    return made


def rows_of(path, sql, engine):
    session = Session.open(str(path))
    session.settings.engine = engine
    try:
        statement, _ = session.prepare(sql)
        return [tuple(row) for row in statement]
    finally:
        session.close()


def expected_rows(path, sql):
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize("sql", list(queries()))
def test_same_rows_as_the_real_library(path, sql, monkeypatch):
    expected = repr(expected_rows(path, sql))
    before = bridge.restarts
    assert expected == repr(rows_of(path, sql, "vector-strict"))
    # partitions side by side or one by one; few rows held at a time
    monkeypatch.setattr(window_layout, "_SHORT", 1000)
    monkeypatch.setattr(window, "HELD_ROWS", 50)
    assert expected == repr(rows_of(path, sql, "one_page"))
    monkeypatch.setattr(window_layout, "_SHORT", 0)
    assert expected == repr(rows_of(path, sql, "declining"))
    assert before == bridge.restarts, "a query of this list must not fall back"


@pytest.mark.parametrize("sql", [
    "select sum(9223372036854775000 + id % 3) over (order by id) from t",
    "select ntile(0) over (order by id) from t",
    "select nth_value(i, id - 5) over (order by id) from t",
    "select sum(i) over (order by id rows -1 preceding) from t",
])
def test_errors_are_those_of_the_row_engine(path, sql):
    found = []
    for engine in ("row", "vector"):
        with pytest.raises(Exception) as caught:
            rows_of(path, sql, engine)
        found.append(str(caught.value))
    assert found[0] == found[1]


@pytest.mark.parametrize("sql", [
    "select id, group_concat(t) over (order by id) from t",
    "select id, min(i) over (order by id rows 3 preceding) from t",
    "select id, sum(r) over (order by i range between 5 preceding and current row) from t",
    "select id, sum(r) over (order by o groups between 1 preceding and current row exclude current row) from t",
    "select id, sum(r) over (order by id rows between 2 following and 5 following) from t",
])
def test_what_is_left_to_the_row_engine(path, sql):
    assert repr(expected_rows(path, sql)) == repr(rows_of(path, sql, "vector"))


@pytest.mark.parametrize("sql", [
    "select id, rank() over (partition by g order by o) from t",
    "select id, sum(r) over (order by id rows 3 preceding) from t",
    "select id, lag(t) over (order by id) from t",
])
def test_the_vector_operator_runs(path, sql, monkeypatch):
    delivered = []
    deliver = window.Windows.deliver
    monkeypatch.setattr(window.Windows, "deliver", lambda self, batch, new: delivered.append(batch.count) or deliver(self, batch, new))
    rows_of(path, sql, "vector-strict")
    assert sum(delivered) == 700
