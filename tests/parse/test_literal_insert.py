
"""INSERTs of literals recognised by shape give the values that the parser gives."""
from __future__ import annotations

import pytest

from sqlvec.parse import ast
from sqlvec.parse.literal_insert import template, token_shape
from sqlvec.parse.parser import parse_statement


@pytest.mark.parametrize(
    ("sql", "prefix", "values"),
    [
        ("INSERT INTO t VALUES(1,'abc',2.5,NULL);", "INSERT INTO t VALUES(", [1, "abc", 2.5, None]),
        ("\n insert or replace into main.[t](a, b) values ( -1 , x'00fF' )", "insert or replace into main.[t](a, b) values (", [-1, b"\x00\xff"]),
        ("replace into t values('it''s',-2.5e3),(.5,null)", "replace into t values(", ["it's", -2500.0, 0.5, None]),
    ],
)
def test_shapes(sql: str, prefix: str, values: list[object]) -> None:
    found = token_shape(sql)
    assert found is not None
    shape, got, end = found
    assert (shape[0], got, end) == (prefix, values, len(sql))
    statement, statement_end = parse_statement(sql)
    assert isinstance(statement, ast.Insert)
    assert statement_end == end
    templated, _ = parse_statement(template(shape))
    assert templated is not None
    assert templated.parameter_count == len(values)


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO t VALUES(1,a)", "INSERT INTO t VALUES(1+1)", "INSERT INTO t VALUES(1),(1,2)", "INSERT INTO t VALUES(1) RETURNING a",
        "INSERT INTO t SELECT 1", "INSERT INTO t VALUES(/* c */1)", "INSERT INTO t VALUES(1", "INSERT INTO t VALUES('abc)", "INSERT INTO t VALUES(1 2)",
        "INSERT INTO t VALUES(0x10)", "INSERT INTO t VALUES(12345678901234567890)", "INSERT INTO t VALUES(1e)", "INSERT INTO t VALUES(x'0')",
        "INSERT INTO t DEFAULT VALUES", "INSERT INTO t(a VALUES(1)", "INSERT OR x INTO t VALUES(1)", "INSERT INTO t VALUES()", "SELECT 1",
        "INSERT INTO t VALUES(1);;x'"[:22] + "x",
    ],
)  # fmt: skip
def test_anything_else_is_left_to_the_parser(sql: str) -> None:
    assert token_shape(sql) is None
