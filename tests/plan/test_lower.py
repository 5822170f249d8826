"""Shapes of physical plans."""
from __future__ import annotations

import pytest

from sqlvec.plan import physical
from tests.plan.planning import plan, shape


@pytest.mark.parametrize(("sql", "expected"), [
    ("select 1", "Project(SingleRow)"),
    ("select 1 where 0", "Project(Filter(SingleRow))"),
    ("select a from t", "Project(Join)"),
    ("select a from t order by b", "Project(Join)"),
    ("select a from t order by a", "Sort(Project(Join))"),
    ("select a from t order by d limit 3", "Limit(Project(Sort(Project(Join))))"),
    ("select distinct a from t", "Distinct(Project(Join))"),
    ("select distinct a from t order by d", "Project(Sort(Distinct(Project(Join))))"),
    ("select count(*) from t", "CountRows"),
    ("select count(*) from t where a", "Project(Aggregate(Join))"),
    ("select max(b) from t", "Project(Aggregate(Limit(Join)))"),
    ("select a, count(*) from t group by a having count(*) > 1 order by 2", "Sort(Project(Filter(Aggregate(Join))))"),
    ("select a, count(*) from t group by a order by a desc", "Project(Aggregate(Join))"),
    ("select a from t union all select b from t union all select 1", "UnionAll(Project(Join), Project(Join), Project(SingleRow))"),
    ("select a from t union select b from t", "SetOperation(Project(Join), Project(Join))"),
    ("select a from t except select b from t order by 1", "MergeSetOperation(Sort(Project(Join)), Project(Join))"),
    ("values (1), (2)", "Values"),
    ("with r(n) as (select 1 union all select n + 1 from r limit 5) select n from r", "Project(Join)"),
    ("select sum(a) over (order by a) from t", "Project(WindowPass(Sort(Join)))"),
    ("select sum(a) over (order by a), sum(b) over (order by d) from t", "Project(WindowPass(Sort(WindowPass(Sort(Join)))))"),
    ("select sum(sum(a)) over () from t group by b", "Project(WindowPass(Project(Aggregate(Join))))"),
])
def test_shapes(sql: str, expected: str):
    assert expected == shape(sql)


def test_join_hands_up_only_what_is_read():
    root = plan("select a from t where b = 1").root
    assert [column.name for column in root.input.columns] == ["a"]  # type: ignore[attr-defined]


def test_bare_columns_keep_their_identity_and_min_max_rules_them():
    aggregate = plan("select a, max(b), d from t group by a").root.input  # type: ignore[attr-defined]
    assert isinstance(aggregate, physical.Aggregate)
    assert [column.name for column in aggregate.bare] == ["a", "d"]
    assert aggregate.extreme == 0
    without = plan("select a, count(b), d from t group by a").root.input  # type: ignore[attr-defined]
    assert [column.name for column in without.bare] == ["d"]
    assert without.extreme is None


def test_an_aggregate_of_the_outer_query_is_an_outer_column_inside():
    root = plan("select (select sum(t.b) + x from u) from t").root
    subquery = root.expressions[0].subquery  # type: ignore[attr-defined]
    aggregate = root.input  # type: ignore[attr-defined]
    assert isinstance(aggregate, physical.Aggregate)
    assert [(column.source, column.number) for column in subquery.outer] == [(aggregate.source, 0)]


def test_uses_of_one_cte_share_a_plan():
    join = plan("with c as (select a from t) select * from c x, c y").root.input  # type: ignore[attr-defined]
    paths = [level.path for level in join.levels]
    assert paths[0].slot == paths[1].slot
    assert paths[0].plan is paths[1].plan


def test_sub_queries_get_their_plan_and_a_limit():
    root = plan("select (select b from t), exists (select 1 from u) from w").root
    assert all(isinstance(expression.subquery.plan, physical.Limit) for expression in root.expressions)  # type: ignore[attr-defined]


def test_a_plan_knows_what_it_depends_on():
    made = plan("select ?, :a, ?5 from t")
    assert made.parameters == [None, ":a", None, None, "?5"]
    assert made.databases == frozenset((0,))
    assert made.cookies == {0: 0}


def test_declared_types():
    assert plan("select t.a, b, c, x, p, b + 1, (select b from t) from t, u, (select d as p from t)").declared_types == (
        None, "INTEGER", "TEXT", "INTEGER", "REAL", None, "INTEGER")
    assert plan("select q, p from v").declared_types == ("INTEGER", None)
