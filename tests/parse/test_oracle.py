# ruff: noqa: E501 - tables of cases
"""Agreement with the real parser on mutated statements, where Python's sqlite3 is the right version."""
from __future__ import annotations

import random
import sqlite3

import pytest

from sqlvec.errors import SqlError
from sqlvec.parse.parser import parse_statement

pytestmark = pytest.mark.skipif(sqlite3.sqlite_version != "3.40.1", reason="the oracle must be SQLite 3.40.1")

SEEDS = [
    "select a, b+1 as c, count(*) filter (where a) over w from t as x left join t y on x.a=y.b where a in (1,2) group by 1 having 2 window w as (order by a)",
    "with q(n) as (select 1 union all select n+1 from q where n<5) select * from q order by n desc nulls last limit 3 offset 1",
    "insert or ignore into t(a,b) values (1,'x'),(2,x'00') on conflict(a) do update set b=excluded.b where 1 returning *",
    "update t set a=1,(b,c)=(2,3) from t as z where z.a=t.b returning a",
    "delete from t where a between 1 and 2 or b like 'x' escape '!' and c is not null",
    "select case a when 1 then 2 else 3 end, cast(b as varchar(10)), exists(select 1), -a collate nocase, (1,2)=(3,4) from t natural join t x",
    "savepoint x", "drop table if exists t", "pragma foo(bar)",
]  # fmt: skip
WORDS = ["select", "from", "where", "(", ")", ",", ".", "*", "as", "not", "null", "in", "is", "between", "and", "or", "like", "case", "when", "then", "else", "end", "exists", "over", "partition", "by", "order", "group", "limit", "offset", "union", "all", "values", "into", "set", "on", "conflict", "do", "nothing", "update", "returning", "default", "indexed", "left", "natural", "join", "using", "'x'", '"y"', "1", "2.5", ":a", "-", "+", "||", "->", "isnull", "key", "temp", "if", "with", "recursive", "filter", "window", "rows", "distinct", "collate", "match", "asc", "desc", "nulls", "first", "to", "begin"]
PARSER_ERRORS = ("syntax error", "incomplete input", "unrecognized token", "stack overflow", "should come after", "unknown join type",
                 "JOIN clause is required", "columns assigned", "after column name")  # fmt: skip


def parser_error(message: str | None) -> str | None:
    return message if message is not None and any(part in message for part in PARSER_ERRORS) else None


@pytest.mark.parametrize("seed", range(8))
def test_same_errors(seed: int) -> None:
    rng = random.Random(seed)
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t(a primary key, b, c)")
    for _ in range(150):
        words = rng.choice(SEEDS).replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split()
        for _ in range(rng.choice((1, 1, 2))):
            place = rng.randrange(len(words))
            if rng.random() < 0.4:
                del words[place]
            else:
                words.insert(place, rng.choice(WORDS))
        sql = " ".join(words)
        try:
            connection.execute("explain " + sql)
            real = None
        except sqlite3.Error as error:
            real = parser_error(str(error))
        try:
            parse_statement("explain " + sql)
            mine = None
        except SqlError as error:
            mine = parser_error(error.message)
        assert mine == real, sql
    connection.close()
