"""Declarations become schema objects: keys, automatic indexes, storage order, estimates; and what is refused."""
from __future__ import annotations

import pytest

from sqlvec.errors import SqlError
from sqlvec.parse.parser import parse_statement
from sqlvec.schema.from_ast import enter_index, index_from_ast, table_from_ast
from sqlvec.schema.objects import EXPRESSION, ROWID
from sqlvec.values.storage import BLOB, INTEGER, NUMERIC, REAL, TEXT


def table(sql: str):
    statement, _ = parse_statement(sql)
    return table_from_ast(statement, 0, 2, sql)


def index(on, sql: str):
    statement, _ = parse_statement(sql)
    made = index_from_ast(statement, on, 3, sql)
    enter_index(on, made)
    return made


def refusal(sql: str) -> str:
    with pytest.raises(SqlError) as caught:
        table(sql)
    return caught.value.message


def test_affinity_and_width_of_columns():
    made = table("create table t(a int, b varchar(20), c blob, d double, e, f text, g numeric)")
    assert [column.affinity for column in made.columns] == [INTEGER, TEXT, BLOB, REAL, BLOB, TEXT, NUMERIC]
    assert [column.size_estimate for column in made.columns] == [1, 6, 5, 1, 1, 5, 1]


def test_only_a_plain_integer_primary_key_is_the_rowid():
    assert table("create table t(a integer primary key)").rowid_column == 0
    assert table("create table t(a INTEGER, b, primary key(a desc))").rowid_column == 0
    assert table("create table t(a integer primary key desc)").rowid_column == ROWID
    assert table("create table t(a int primary key)").rowid_column == ROWID
    assert table("create table t(a integer, b, primary key(a, b))").rowid_column == ROWID


def test_automatic_indexes_come_newest_first_and_once():
    made = table("create table t(a unique, b primary key, c, unique(c, a), unique(a))")
    assert [one.name for one in made.indexes] == ["sqlite_autoindex_t_3", "sqlite_autoindex_t_2", "sqlite_autoindex_t_1"]
    assert [one.origin for one in made.indexes] == ["u", "pk", "u"]
    assert [[field.column for field in one.columns] for one in made.indexes] == [[2, 0, ROWID], [1, ROWID], [0, ROWID]]


def test_an_equal_primary_key_makes_the_unique_index_its_own():
    assert [one.origin for one in table("create table t(a unique primary key)").indexes] == ["pk"]


def test_another_collation_makes_another_index():
    made = table("create table t(a, primary key(a collate nocase), unique(a))")
    assert [one.columns[0].collation for one in made.indexes] == ["BINARY", "nocase"]


def test_replace_indexes_stay_last():
    made = table("create table t(a unique on conflict replace, b unique, c unique)")
    assert [one.columns[0].name for one in made.indexes] == ["c", "b", "a"]


def test_without_rowid_stores_key_columns_first():
    made = table("create table t(a, b, c as (a), d, primary key(d, b, d)) without rowid")
    assert made.key_index is not None and made.key_index.is_table_tree
    assert [field.column for field in made.key_index.columns] == [3, 1, 0]
    assert made.key_index.key_count == 2
    assert made.fields == (2, 1, -1, 0)
    assert made.columns[3].not_null == "ABORT"


def test_secondary_index_of_without_rowid_ends_with_the_missing_key_columns():
    made = table("create table t(b, c, d, primary key(b desc, c), unique(d, c)) without rowid")
    secondary = next(one for one in made.indexes if not one.is_table_tree)
    assert [(field.column, field.descending) for field in secondary.columns] == [(2, False), (1, False), (0, False)]


def test_virtual_generated_columns_are_not_stored():
    made = table("create table t(a, b as (a), c generated always as (a + 1) stored, d)")
    assert made.fields == (0, -1, 1, 2)
    assert [column.generated is not None for column in made.columns] == [False, True, True, False]


def test_default_estimates():
    made = table("create table t(a unique, b)")
    assert made.indexes[0].row_estimates == [200, 0]
    second = index(made, "create index i on t(b, a)")
    assert second.row_estimates == [200, 33, 32]
    assert made.indexes[0] is second
    partial = index(made, "create index p on t(b) where a > 1")
    assert partial.row_estimates == [190, 33]


def test_index_on_expression_and_collation():
    made = table("create table t(a collate rtrim, b)")
    one = index(made, "create index i on t(a, lower(b), b collate nocase desc)")
    assert [(field.column, field.collation, field.descending) for field in one.columns] == [
        (0, "rtrim", False), (EXPRESSION, "BINARY", False), (1, "nocase", True), (ROWID, "BINARY", False)]


def test_foreign_keys_are_listed_last_first():
    made = table("create table t(a references p, b, foreign key(b, a) references q(x, y) on delete cascade)")
    assert [(key.number, key.columns, key.parent, key.parent_columns, key.on_delete) for key in made.foreign_keys] == [
        (0, (1, 0), "q", ("x", "y"), "CASCADE"), (1, (0,), "p", (), "NO ACTION")]


@pytest.mark.parametrize(("sql", "message"), [
    ("create table t(a, A)", "duplicate column name: A"),
    ("create table t(a primary key, primary key(a))", 'table "t" has more than one primary key'),
    ("create table t(a text primary key autoincrement)", "AUTOINCREMENT is only allowed on an INTEGER PRIMARY KEY"),
    ("create table t(a integer primary key autoincrement) without rowid", "AUTOINCREMENT not allowed on WITHOUT ROWID tables"),
    ("create table t(a) without rowid", "PRIMARY KEY missing on table t"),
    ("create table t(a as (1))", "must have at least one non-generated column"),
    ("create table t(a as (1) default 5, b)", "cannot use DEFAULT on a generated column"),
    ("create table t(b, a default 5 as (1))", 'error in generated column "a"'),
    ("create table t(a, b primary key as (a))", "generated columns cannot be part of the PRIMARY KEY"),
    ("create table t(a, unique(zz))", "no such column: zz"),
    ("create table t(a, unique(a + 1))", "expressions prohibited in PRIMARY KEY and UNIQUE constraints"),
    ("create table t(a, unique(a nulls first))", "unsupported use of NULLS FIRST"),
    ("create table t(b default (a + 1), a)", "default value of column [b] is not constant"),
    ("create table t(b foo) strict", 'unknown datatype for t.b: "foo"'),
    ("create table t(b) strict", "missing datatype for t.b"),
    ("create table t(b references x(a, b))", "foreign key on b should reference only one column of table x"),
    ("create table t(b, foreign key(zz) references x(a))", 'unknown column "zz" in foreign key definition'),
    ("create table t(a unique on conflict replace primary key on conflict ignore)", "conflicting ON CONFLICT clauses specified"),
])
def test_refusals(sql: str, message: str):
    assert message == refusal(sql)
