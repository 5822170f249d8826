"""What names mean, what columns are called, and which error is reported."""
from __future__ import annotations

import pytest

from sqlvec.errors import SqlError
from sqlvec.expr import bound
from sqlvec.parse.parser import parse_statement
from sqlvec.plan.planner import plan_statement
from tests.plan.planning import context, error, plan


@pytest.mark.parametrize(("sql", "names"), [
    ("select a, A, t.a, +a, (a), a as z, 'x', a  ||  b from t", ("a", "a", "a", "+a", "a", "z", "'x'", "a  ||  b")),
    ("select rowid, oid from t", ("rowid", "rowid")),
    ("select rowid, X from u", ("x", "x")),
    ("select * from t natural join u", ("a", "b", "c", "d", "x", "y")),
    ("select * from t join u using(a)", ("a", "b", "c", "d", "x", "y")),
    ("select u.*, t.b from t, u", ("x", "y", "a", "b")),
    ("select * from (select a, a, b as A from t)", ("a", "a:1", "A:2")),
    ("select * from (select a + 1, true from t)", ("a + 1", "column2")),
    ("select * from v", ("p", "q")),
    ("values (1, 2)", ("column1", "column2")),
    ("select a x from t union select 1", ("x",)),
    ("select * from (select a collate nocase from t)", ("a",)),
    ("select oid from (select 1)", ("rowid",)),
    ("with c(m, n) as (select 1, 2) select * from c", ("m", "n")),
])
def test_result_names(sql: str, names: tuple[str, ...]):
    assert names == plan(sql).names


@pytest.mark.parametrize(("sql", "message"), [
    ("select nosuch from t", "no such column: nosuch"),
    ("select t.nosuch from t", "no such column: t.nosuch"),
    ("select main.t.nosuch from t", "no such column: main.t.nosuch"),
    ("select a from t as x, t as y", "ambiguous column name: a"),
    ("select a as z, z from t", "no such column: z"),
    ("select [zz] from t", "no such column: zz"),
    ("select t.a from t as x", "no such column: t.a"),
    ("select rowid from t, u", "no such column: rowid"),
    ("select rowid from w", "no such column: rowid"),
    ("select * from t x, t x", "ambiguous column name: main.x.a"),
    ("select * from (select 1 a) x, (select 2 a) x", "ambiguous column name: *.x.a"),
    ("select x.* from t", "no such table: x"),
    ("select *", "no tables specified"),
    ("select * from nosuch", "no such table: nosuch"),
    ("select * from aux.t", "no such table: aux.t"),
    ("select nosuch from t, (select * from gone)", "no such table: gone"),
    ("select nosuch from t where a in (select * from gone)", "no such table: gone"),
    ("select * from m1 union select * from m2", "no such table: m2"),
    ("select a1 from t union select a2 from t", "no such column: a2"),
    ("select * from t join u using(b)", "cannot join using column b - column not present in both tables"),
    ("select * from t left join u on u.x = w.k join w", "ON clause references tables to its right"),
    ("select * from t natural join u using(a)", "a NATURAL join may not have an ON or USING clause"),
    ("select nosuch from t limit foo", "no such column: foo"),
    ("select n1 from t where n2", "no such column: n1"),
    ("select a from t where n2 group by a having n3", "no such column: n3"),
    ("select a from t where n2 order by n3", "no such column: n2"),
    ("select * from t limit a", "no such column: a"),
    ("select nosuch(nocol) from t", "no such column: nocol"),
    ("select nosuch(1)", "no such function: nosuch"),
    ("select abs()", "wrong number of arguments to function abs()"),
    ("select a from t where count(*) > 1", "misuse of aggregate function count()"),
    ("select SUM(a) as s from t where s > 0", "misuse of aggregate: SUM()"),
    ("select a from t order by Count(*)", "misuse of aggregate: Count()"),
    ("select sum(sum(a)) from t", "misuse of aggregate function sum()"),
    ("select a from t group by count(*)", "aggregate functions are not allowed in the GROUP BY clause"),
    ("select a from t having count(*)", "HAVING clause on a non-aggregate query"),
    ("select count(distinct) from t", "DISTINCT aggregates must have exactly one argument"),
    ("select a from t order by 2", "1st ORDER BY term out of range - should be between 1 and 1"),
    ("select a, b from t group by a, 3", "2nd GROUP BY term out of range - should be between 1 and 2"),
    ("select a from t union select b from t order by a + 0", "1st ORDER BY term does not match any column in the result set"),
    ("select a, b from t except select a from t",
     "SELECTs to the left and right of EXCEPT do not have the same number of result columns"),
    ("values (1, 2), (3)", "all VALUES must have the same number of terms"),
    ("select (select 1, 2)", "sub-select returns 2 columns - expected 1"),
    ("select (1, 2)", "row value misused"),
    ("select (1, 2) = (1, 2, 3)", "row value misused"),
    ("select (1, (2, 3)) = (1, (2, 3))", "row value misused"),
    ("select nosuch < (1, nosuch)", "row value misused"),
    ("select (1, nosuch) in (1, 2)", "IN(...) element has 1 term - expected 2"),
    ("select (1, 2) in (1, 2)", "IN(...) element has 1 term - expected 2"),
    ("select raise(ignore)", "RAISE() may only be used within a trigger-program"),
    ("select likelihood(a, 2) from t", "second argument to likelihood() must be a constant between 0.0 and 1.0"),
    ("select a = 'x' collate nosuch from t", "no such collation sequence: nosuch"),
    ("select 1 from t indexed by nosuch", "no such index: nosuch"),
    ("select * from t(1)", "'t' is not a function"),
    ("select * from broken", "no such column: nosuch"),
    ("select * from missing", "no such table: main.nosuch"),
    ("select * from loop1", "view loop1 is circularly defined"),
    ("select * from narrow", "expected 1 columns for 'narrow' but got 2"),
    ("select row_number() from t", "misuse of window function row_number()"),
    ("select row_number() over () as r from t where r = 1", "misuse of aliased window function r"),
    ("select abs(a) over () from t", "abs() may not be used as a window function"),
    ("select sum(a) over nosuch from t", "no such window: nosuch"),
    ("select sum(a) over (w order by b) from t window w as (order by a)", "cannot override ORDER BY clause of window: w"),
    ("select sum(a) over (rows between 1 following and 1 preceding) from t", "unsupported frame specification"),
    ("select sum(a) over (range 1 preceding) from t", "RANGE with offset PRECEDING/FOLLOWING requires one ORDER BY expression"),
    ("select abs(a) filter (where 1) from t", "FILTER may not be used with non-aggregate abs()"),
    ("select count(distinct a) over () from t", "DISTINCT is not supported for window functions"),
    ("with r(n) as (select 1 union all select n from r, r) select * from r", "multiple references to recursive table: r"),
    ("with r(n) as (select 1 union all select n from r where n < (select max(n) from r)) select * from r", "multiple recursive references: r"),
    ("with r(n) as (select * from r) select * from r", "circular reference: r"),
    ("with r(n) as (select 1 union all select max(n) from r) select * from r", "recursive aggregate queries not supported"),
    ("with r(n, m) as (select 1) select * from r", "table r has 1 values for 2 columns"),
    ("with r as (select 1), r as (select 2) select * from r", "duplicate WITH table name: r"),
])
def test_errors(sql: str, message: str):
    assert message == error(sql)


@pytest.mark.parametrize(("sql", "offset"), [("select  nosuch from t", 8), ("select a, abs() from t", 10), ("select * from broken", None)])
def test_offsets_of_errors(sql: str, offset: int | None):
    statement, _ = parse_statement(sql)
    with pytest.raises(SqlError) as caught:
        plan_statement(statement, context())
    assert offset == caught.value.offset


@pytest.mark.parametrize("sql", [
    'select "nosuch" from t', "select a as x from t where x = 1 group by x having x order by x", "select nosuch in () from t",
    "select true, false", "select t.rowid from t, u", "select * from t t1 left join t t2 using(a)",
    "select (select count(*) from u where sum(t.b) > x) from t", "with a as (select * from b), b as (select 1) select * from a",
])
def test_accepted(sql: str):
    assert error(sql) == "no error"


def result(sql: str) -> bound.Expression:
    node = plan(sql).root
    while not hasattr(node, "expressions"):
        node = node.input  # type: ignore[attr-defined]
    return node.expressions[0]  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize(("sql", "applied", "using"), [
    ("select b = '1' from t", "C", "BINARY"),
    ("select +b = '1' from t", None, "BINARY"),
    ("select c = 1 from t", "B", "NOCASE"),
    ("select a = c from t", None, "BINARY"),
    ("select 'x' = c from t", "B", "NOCASE"),
    ("select 'x' = c collate rtrim from t", "B", "rtrim"),
    ("select c || '' = 'x' from t", None, "BINARY"),
    ("select b = c from t", "C", "BINARY"),
    ("select a = 1 from t", None, "BINARY"),
    ("select (select b from t) = '1'", "C", "BINARY"),
    ("select cast(a as text) = 1 from t", "B", "BINARY"),
])
def test_affinity_and_collation_of_comparisons(sql: str, applied: str | None, using: str):
    comparison = result(sql)
    assert (applied, using) == (comparison.applied, comparison.using)  # type: ignore[attr-defined]


def test_the_integer_primary_key_is_the_rowid():
    column = result("select x from u")
    assert (column.number, column.name) == (-1, "x")  # type: ignore[attr-defined]


def test_in_with_one_constant_is_an_equality():
    assert isinstance(result("select a in (1) from t"), bound.Compare)
    assert isinstance(result("select a in (b) from t"), bound.InList)


def test_outer_columns_of_sub_queries():
    subquery = result("select (select y from u where u.a = t.a) from t").subquery  # type: ignore[attr-defined]
    assert [column.name for column in subquery.outer] == ["a"]
    assert result("select (select y from u) from t").subquery.outer == ()  # type: ignore[attr-defined]
