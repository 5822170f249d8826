"""Query shapes against the real one: joins, groups, windows, compounds, recursion, sub-queries, limits of generated code."""
from __future__ import annotations

import random
from typing import Any

import pytest

import sqlvec

SETUP = (
    "create table t(a integer primary key, b, c text)",
    "insert into t values (1, 2, 'x'), (2, null, 'y'), (3, 5, 'z'), (4, 2, 'X')",
    "create table u(b integer, d real, e text collate nocase)",
    "insert into u values (2, 1.5, 'x'), (5, 2, 'Y'), (null, null, null), (7, 7, 'q'), (2, 3, 'X')",
    "create index ub on u(b, d)",
    "create table w(k text, n int, v, primary key(k, n)) without rowid",
    "insert into w values ('a', 1, 10), ('b', 2, 20), ('a', 3, 30)",
    "create index wv on w(v desc)",
    "create table g(x int, y as (x * 2) virtual, z text as ('n' || x) stored)",
    "insert into g values (1), (2), (null)",
    "create table old(p)",
    "insert into old values (1), (2)",
    "alter table old add column q text default 17",
    "insert into old values (3, 'set')",
)
QUERIES = (
    "select * from t left join u on u.b = t.b",
    "select * from t left join u on u.b = t.b and u.d > 2 where t.a < 4",
    "select * from t right join u on u.b = t.b",
    "select * from t full join u on u.b = t.b and t.a > 1 order by t.a, u.d",
    "select * from t full join u using (b) full join w on w.n = t.a",
    "select * from t join u on t.c = u.e",
    "select u.e, t.c from u join t on u.e = t.c",
    "select count(*) from t, u, w, t x, u y where t.a = x.a and u.b = y.b",
    "select v, k from w where v >= 10",
    "select * from w where k = 'a' order by n desc",
    "select * from w where v = 20",
    "select x, y, z from g where y > 2 or z = 'n1'",
    "select *, typeof(q) from old",
    "select b, count(*), sum(a), group_concat(c) from t group by b",
    "select e, count(*), max(d), min(b) from u group by e",
    "select max(d), e from u",
    "select min(d), e, b from u group by b",
    "select count(distinct e), count(distinct b), sum(distinct b), group_concat(distinct e) from u",
    "select sum(d) filter (where b > 2), count(*) filter (where e = 'x') from u",
    "select b, count(*) from t group by b having count(*) > 1",
    "select distinct b from t order by b desc",
    "select distinct e from u",
    "select b from t union select b from u",
    "select b from t intersect select b from u order by 1 desc",
    "select b from u except select b from t",
    "select 1 union all select 2.0 union select 1.0 order by 1",
    "select e from u union select 'Q' order by 1",
    "select a, (select max(d) from u where u.b = t.b), exists (select 1 from u where u.b = t.b) from t",
    "select a, b in (select b from u), b not in (select b from u where b is not null), (a, b) in (select 1, 2) from t",
    "select a from t where b in (2, 5, 7)",
    "select a from t where c in ('x', 'q') or b in (select b from u)",
    "select * from u where b in (2, 7) and d in (1.5, 7, 3)",
    "select * from u where (b, d) > (2, 1.5) order by b, d",
    "select a, row_number() over (order by b desc), sum(a) over (partition by b), lag(c) over (order by a) from t",
    "with recursive r(n) as (values (1) union all select n + 1 from r where n < 10) select sum(n), group_concat(n) from r",
    "with recursive r(n, m) as (select 1, 1 union select n % 5 + 1, m + 1 from r limit 12) select * from r",
    "with recursive r(n, d) as (select 1, 0 union all select n * 2, d + 1 from r where d < 3 union all select n * 2 + 1, d + 1 from r where d < 3"
    " order by 2 desc) select * from r",
    "select * from (select b, sum(a) s from t group by b) x join u on u.b = x.b",
    "select * from t order by b nulls last, a desc limit 3",
    "select * from t limit 2 offset 1",
    "select * from t limit -1 offset 3",
    "select a from t limit 1.5",
    "select a from t limit 'x'",
    "select a from t limit null",
    "select sum(9223372036854775807) from t",
    "select a, nth_value(c, 0) over (order by a) from t",
    "select sum(a) over (rows between -1 preceding and current row) from t",
    "select sum(a) over (order by a range between 'x' preceding and current row) from t",
    "select ntile(0) over () from t",
    "values (1, 2), (3, 'x')",
    "select count(*) from t where a between 2 and '3' and b is null",
    "select * from t where a > 1.5 and a < '4'",
    "select * from t where a = '3' or a = 2.0 or a is 1",
    "select * from u where b is null",
    "select * from u where b > 'x' or b < x'00'",
    "select json_array(json('[1]'), (select json('[2]'))), json_array(v) from (select json('[3]') v)",
)


def connect(module: Any) -> Any:
    connection = module.connect(":memory:", isolation_level=None)
    if module is sqlvec:
        connection.execute("pragma sqlvec_engine = row")
    for statement in SETUP:
        connection.execute(statement)
    return connection


def answer(connection: Any, query: str) -> str:
    try:
        return repr(connection.execute(query).fetchall())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.fixture(scope="module")
def pair(oracle: Any) -> tuple[Any, Any]:
    return connect(oracle), connect(sqlvec)


@pytest.mark.parametrize("query", QUERIES)
def test_query(pair: tuple[Any, Any], query: str) -> None:
    assert answer(pair[0], query) == answer(pair[1], query)


def chain(count: int, kind: str, column: str) -> str:
    joins = " ".join(f"{kind} join t t{number} on t{number}.a = t{number - 1}.{column}" for number in range(1, count))
    return f"select count(*), max(t{count - 1}.a) from t t0 {joins}"


LARGE = (
    "select " + "+".join(["b"] * 900) + " from t",
    "select " + "abs(" * 90 + "b" + ")" * 90 + " from t",
    "select case a " + " ".join(f"when {n} then {n * 2}" for n in range(300)) + " end from t",
    "select coalesce(" + ",".join(["null"] * 90) + ", a) from t",
    "select a from t where " + " or ".join(f"a = {n} and b = {n + 1}" for n in range(100)),
    "select a from t where b not in (" + ",".join(map(str, range(9, 500))) + ")",
    "select " + ",".join(f"a + {n}" for n in range(800)) + " from t",
    chain(40, "", "a"),
    chain(20, "left", "b"),
    chain(12, "full", "b"),
    chain(12, "right", "a"),
    "select b " + "between 0 and 1 " * 40 + "from t",
)


@pytest.mark.parametrize("query", LARGE, ids=range(len(LARGE)))
def test_limits_of_generated_code(pair: tuple[Any, Any], query: str) -> None:
    assert answer(pair[0], query) == answer(pair[1], query)


FUNCTIONS = ("sum(v)", "count(v)", "avg(v)", "total(v)", "min(v)", "max(s)", "group_concat(s)", "first_value(v)", "last_value(s)", "nth_value(v, 2)",
             "row_number()", "rank()", "dense_rank()", "percent_rank()", "cume_dist()", "ntile(4)", "lag(v)", "lead(v, 2, 'd')", "lag(s, v)",
             "sum(v) filter (where v > 1)", "count(*)")
ORDERS = ("", "order by o", "order by o desc", "order by v", "order by o, v desc", "order by o nulls last", "order by v desc nulls first")


def frame(chance: random.Random) -> str:
    if chance.random() < 0.2:
        return ""
    unit = chance.choice(("rows", "groups", "range"))

    def edge(is_end: bool) -> str:
        kind = chance.choice(("unbounded", "preceding", "current row", "following"))
        if kind == "unbounded":
            return "unbounded following" if is_end else "unbounded preceding"
        return kind if kind == "current row" else f"{chance.choice(('0', '1', '2', '3'))} {kind}"

    exclude = chance.choice(("", "exclude current row", "exclude group", "exclude ties"))
    return f"{unit} between {edge(False)} and {edge(True)} {exclude}"


def test_window_frames(oracle: Any) -> None:
    chance = random.Random(5)
    rows = [(n, chance.choice((1, 2, 3, None)), chance.choice((None, 1, 2, 3, 5, 2.5, 7, "x")), chance.choice((None, 1, 2, 3, 10, -4)),
             chance.choice("abcde")) for n in range(50)]
    connections = (oracle.connect(":memory:"), sqlvec.connect(":memory:"))
    for connection in connections:
        connection.execute("create table t(id integer primary key, p, o, v, s text)")
        connection.executemany("insert into t values (?, ?, ?, ?, ?)", rows)
    for _ in range(150):
        calls = ", ".join(f"{function} over w" for function in chance.sample(FUNCTIONS, 3))
        partition = chance.choice(("", "partition by p", "partition by p, v > 2"))
        query = f"select id, {calls} from t window w as ({partition} {chance.choice(ORDERS)} {frame(chance)})"
        assert answer(connections[0], query) == answer(connections[1], query), query
