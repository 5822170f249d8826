
"""What the parser refuses: exact texts and offsets, and the limits."""
from __future__ import annotations

import pytest

from sqlvec.errors import SqlError
from sqlvec.parse.parser import parse_statement

INCOMPLETE = "incomplete input"


def failure(sql: str) -> SqlError:
    with pytest.raises(SqlError) as caught:
        parse_statement(sql)
    return caught.value


@pytest.mark.parametrize(
    ("sql", "token"),
    [
        ("selec 1", "selec"), ("select 1 from", INCOMPLETE), ("select 1 from;", ";"), ("select #1", "#1"), ("select 1 as", INCOMPLETE),
        ("values(1) order by 1", "order"), ("select count(distinct *)", "*"), ("select t.* as x from t", "as"), ("select left(1)", "("),
        ("select 1 left", "left"), ("create unique table", "table"), ("create table x(a,)", ")"), ("create table x(a, unique(a) b)", "b"),
        ("create table x(a default -x)", "x"), ("create trigger tr insert on t begin end", "end"), ("explain explain select 1", "explain"),
        ("drop table if x", "x"), ("pragma a.b.c", "."), ("begin foo", "foo"), ("insert into t values(1) on conflict do nothing on", "on"),
        ("select 1 /*", "*"), ("update t as x set a=1 order", INCOMPLETE), ("create table x(a int) foo bar", "bar"),
        ("select a from t1 on b using(a)", "using"), ("update v set b=1 order by a with limit 3", "with"), ("select cast(1)", ")"),
        ("select sum(1) over filter", "filter"), ("with recursive as (select 1) select 1", "as"), ("select current_date(1)", "("),
    ],
)  # fmt: skip
def test_syntax_errors(sql: str, token: str) -> None:
    error = failure(sql)
    if token == INCOMPLETE:
        assert (error.message, error.offset) == (INCOMPLETE, None)
    else:
        assert error.message == f'near "{token}": syntax error'
        assert error.offset is not None
        assert sql.startswith(token, error.offset)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("select 'abc", 'unrecognized token: "\'abc"'),
        ("select ?0", "variable number must be between ?1 and ?250000"),
        ("select ?250001", "variable number must be between ?1 and ?250000"),
        ("select 1 order by 1 union select 2", "ORDER BY clause should come after UNION not before"),
        ("select 1 limit 1 union all select 2", "LIMIT clause should come after UNION ALL not before"),
        ("select 1 from t left foo join t", "unknown join type: left foo"),
        ("select 1 from t natural Outer join t", "unknown join type: natural Outer"),
        ("select 1 from t on 1", "a JOIN clause is required before ON"),
        ("select 1 from t using(a)", "a JOIN clause is required before USING"),
        ("with x(a collate nocase) as (select 1) select 1", 'syntax error after column name "a"'),
        ("update t set (a,b)=(1,2,3)", "2 columns assigned 3 values"),
        ("delete from t order by 1", "ORDER BY without LIMIT on DELETE"),
        ("create table x(a) foo", "unknown table option: foo"),
        ("create table x(a as (1) foo)", 'error in generated column "a"'),
        ("create trigger r insert on t begin delete from main.t; end",
         "qualified table names are not allowed on INSERT, UPDATE, and DELETE statements within triggers"),
        ("create trigger r insert on t begin delete from t not indexed; end",
         "the NOT INDEXED clause is not allowed on UPDATE or DELETE statements within triggers"),
        ("create trigger r insert on t begin insert into t select 1 returning 1; end", "cannot use RETURNING in a trigger"),
        ("select sum(a) over (rows between 1 following and current row)", "unsupported frame specification"),
    ],
)  # fmt: skip
def test_other_errors(sql: str, message: str) -> None:
    assert failure(sql).message == message


@pytest.mark.parametrize(
    ("piece", "close", "most"),
    [
        ("(", ")", 93), ("- ", "", 94), ("abs(", ")", 31), ("max(1,", ")", 19), ("case when 1 then ", " end", 19), ("case ", " when 1 then 1 end", 90),
        ("(select ", ")", 18), ("exists(select ", ")", 15), ("cast(", " as int)", 46), ("1 in (", ")", 31), ("1||(", ")", 31),
    ],
)  # fmt: skip
def test_nesting_limit(piece: str, close: str, most: int) -> None:
    """The deepest nesting that SQLite's parser stack of 100 takes; one symbol less with EXPLAIN in front."""
    deepest = 0
    for depth in range(most - 3, most + 3):
        try:
            parse_statement("select " + piece * depth + "1" + close * depth)
        except SqlError as error:
            assert error.message == "parser stack overflow"
            break
        deepest = depth
    assert most - deepest in (0, 1)


def test_other_limits() -> None:
    assert failure("select 1" + "+1" * 1000).message == "Expression tree is too large (maximum depth 1000)"
    assert failure("select 1" + " and 1" * 1000).message == "Expression tree is too large (maximum depth 1000)"
    assert failure("select 1" + " union select 1" * 500).message == "too many terms in compound SELECT"
    assert failure("select max(" + "1," * 127 + "1)").message == "too many arguments on function max"
    assert failure("select 1" + ",1" * 2000).message == "too many columns in result set"
