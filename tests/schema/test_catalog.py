"""Catalogs: loading rows, look-up, the next Catalog after a change, search order, hash order, statistics."""
from __future__ import annotations

import pytest

from sqlvec.errors import SqlError
from sqlvec.schema import statistics
from sqlvec.schema.catalog import Catalog, CatalogSet
from sqlvec.schema.load import catalog_of_rows, extended_catalog

ROWS = [
    (1, "table", "t", "t", 2, "CREATE TABLE t(a unique, b)"),
    (2, "index", "sqlite_autoindex_t_1", "t", 3, None),
    (3, "index", "i", "t", 4, "CREATE INDEX i ON t(b)"),
    (4, "view", "v", "v", 0, "CREATE VIEW v AS SELECT a FROM t"),
    (5, "trigger", "g", "t", 0, "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END"),
    (6, "trigger", "h", "t", 0, "CREATE TRIGGER h AFTER INSERT ON t BEGIN SELECT 2; END"),
]


def catalog(rows=ROWS, number: int = 0) -> Catalog:
    return catalog_of_rows(number, rows, 1, ("main", "temp", "aux")[number])


def catalog_set(*rows) -> CatalogSet:
    made = [catalog(one, number) for number, one in enumerate(rows)]
    return CatalogSet(["main", "temp", "aux"][: len(made)], lambda number: made[number])


def test_objects_are_found_by_name_in_any_case():
    made = catalog()
    table = made.find_table("T")
    assert table is not None and [index.name for index in table.indexes] == ["i", "sqlite_autoindex_t_1"]
    assert [index.root for index in table.indexes] == [4, 3]
    assert made.find_index("I") is table.indexes[0]
    assert [trigger.name for trigger in table.triggers] == ["h", "g"]
    assert [one.name for one in made.tables()] == ["t", "v"]
    assert made.find_table("nosuch") is None


def test_the_schema_table_has_several_names():
    made = catalog()
    assert made.find_table("sqlite_schema") is made.find_table("SQLITE_MASTER")
    assert [column.name for column in made.schema_root().columns] == ["type", "name", "tbl_name", "rootpage", "sql"]
    temp = catalog([], 1)
    assert temp.find_table("sqlite_temp_schema").name == "sqlite_temp_master"
    assert made.find_table("sqlite_temp_master") is None


def test_the_next_catalog_leaves_the_old_one_alone():
    old = catalog()
    new = extended_catalog(old, (7, "index", "j", "t", 5, "CREATE INDEX j ON t(a, b)"))
    assert [index.name for index in new.find_table("t").indexes] == ["j", "i", "sqlite_autoindex_t_1"]
    assert [index.name for index in old.find_table("t").indexes] == ["i", "sqlite_autoindex_t_1"]
    assert all(index.table is new.find_table("t") for index in new.find_table("t").indexes)
    assert new.without_index("i").find_index("i") is None
    gone = new.without_table("t")
    assert gone.find_table("t") is None and gone.find_index("j") is None and gone.find_trigger("g") is None
    assert [one.name for one in gone.tables()] == ["v"]


def test_large_schemas_are_parsed_on_demand():
    rows = [(n, "table", f"t{n}", f"t{n}", n + 1, f"CREATE TABLE t{n}(a)") for n in range(1, 100)]
    rows[50] = (51, "table", "bad", "bad", 52, "CREATE TABLE bad(")
    made = Catalog(0, 1)
    for row in rows:
        made.add_row(row)
    assert made.find_table("t7").root == 8
    with pytest.raises(SqlError, match="malformed database schema"):
        made.find_table("bad")


@pytest.mark.parametrize(("row", "message"), [
    ((1, "table", "x", "x", 2, "CREATE TABLE x("), "malformed database schema (x) - incomplete input"),
    ((1, "table", "x", "x", 2, "nonsense"), "malformed database schema (x)"),
    ((1, "table", "x", "x", 2, "CREATE TABLE x(a, a)"), "malformed database schema (x) - duplicate column name: a"),
    ((1, "index", "x", "y", 2, "CREATE INDEX x ON y(a)"), "malformed database schema (x) - no such table: main.y"),
])
def test_malformed_schemas(row, message: str):
    with pytest.raises(SqlError) as caught:
        catalog([row])
    assert message == caught.value.message


def test_names_are_searched_in_temp_main_and_attached():
    rows = [(1, "table", "x", "x", 2, "CREATE TABLE x(a)")]
    made = catalog_set(rows, rows, [*rows, (2, "table", "y", "y", 3, "CREATE TABLE y(a)")])
    assert made.find_table(None, "x").database == 1
    assert made.find_table("main", "x").database == 0
    assert made.find_table("AUX", "x").database == 2
    assert made.find_table(None, "y").database == 2
    assert made.find_table("main", "y") is None
    assert made.find_table("nosuch", "x") is None
    assert made.find_table(None, "sqlite_schema").database == 0


def test_temp_triggers_of_a_main_table_come_first():
    temp = [(1, "trigger", "tg", "t", 0, "CREATE TRIGGER tg AFTER INSERT ON t BEGIN SELECT 1; END")]
    made = catalog_set(ROWS, temp)
    assert [trigger.name for trigger in made.triggers_of(made.find_table(None, "t"))] == ["tg", "h", "g"]


def test_hash_order_is_newest_first_while_small_and_bucketed_later():
    small = catalog([(n, "table", f"t{n}", f"t{n}", n + 1, f"CREATE TABLE t{n}(a)") for n in range(1, 6)])
    assert [table.name for table in small.hash_order()] == ["t5", "t4", "t3", "t2", "t1"]
    large = catalog([(n, "table", f"t{n}", f"t{n}", n + 1, f"CREATE TABLE t{n}(a)") for n in range(1, 31)])
    names = [table.name for table in large.hash_order()]
    assert sorted(names) == sorted(f"t{n}" for n in range(1, 31))
    assert names != [f"t{n}" for n in range(30, 0, -1)]


def test_statistics():
    made = catalog()
    statistics.apply(made, [("t", "i", "1000 10"), ("t", None, "5 sz=3"), ("nosuch", "x", "1"), (None, None, "1"),
                            ("t", "sqlite_autoindex_t_1", "1000 1 noskipscan")])
    table = made.find_table("t")
    first, second = table.indexes
    assert (first.row_estimates, first.has_statistics) == ([99, 33], True)
    assert (second.row_estimates, second.no_skip_scan) == ([99, 0], True)
    assert table.row_estimate == 99 and table.has_statistics
