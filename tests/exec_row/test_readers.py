"""Readers answer the same from the tree and from the dictionary they build, and notice writes."""
from __future__ import annotations

from typing import Any

import pytest

import sqlvec
from sqlvec.exec.row import probes
from sqlvec.session.session import Session


@pytest.fixture
def session() -> Any:
    session = Session.open(":memory:")
    for statement in (
        "create table t(a integer primary key, b, c)",
        "create index ib on t(b, c collate nocase desc)",
        "create table w(k, n, v, primary key(k, n)) without rowid",
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 500)"
        " insert into t select i, case i % 7 when 0 then null else i % 7 end, char(65 + i % 3) || (i % 5) from n",
        "insert into w select b, a, c from t where b is not null",
    ):
        list(session.prepare(statement)[0])
    return session


def reading(session: Any) -> tuple[Any, Any, Any]:
    session.transaction.begin_read(0)
    catalogs = session.databases.catalogs
    return session.run_context(()), catalogs.find_table(None, "t"), catalogs.find_table(None, "w")


def test_table_reader(session: Any) -> None:
    context, table, _ = reading(session)
    tree = context.table_tree(table)
    reader = probes.TableReader(tree, 1 << 20)
    for _ in range(3):
        for rowid in (1, 250, 500, 501, -1):
            assert reader.get(rowid) == tree.get(rowid)
        for _ in range(3):                       # the second search of a leaf decodes all of it
            for rowid in (7, 8, 9, -1):
                assert reader.get(rowid) == tree.get(rowid)
        for number in range(probes.FIRST_LOOK * 2):
            reader.get(7 + number % 2 * 450)
    assert reader.rows is not None
    assert [row[0] for row in reader.lookup("12")] == [12]
    assert reader.lookup(12.5) == reader.lookup(None) == ()
    assert reader.lookup_or_null(501) == ((None, None),)


@pytest.mark.parametrize("descending", [False, True])
def test_index_reader(session: Any, descending: bool) -> None:
    context, table, _ = reading(session)
    index = next(index for index in table.indexes if index.name == "ib")
    tree = context.index_tree(index)
    nocase = context.collations.lookup("nocase")
    reader = probes.IndexReader(tree, 2, (None, nocase), descending, [False], 1 << 20)

    def found(key: tuple[Any, ...]) -> list[bytes]:
        return [entry for block in reader.open(key) for entry in block]

    keys = [(1, "a1"), (1, "A1"), (1.0, "b2"), (6, "c0"), (9, "a1"), ("1", "A1"), (None, "A1"), (1, None)]
    before = [found(key) for key in keys]
    assert reader.entries is None
    for _ in range(probes.FIRST_LOOK):
        found(keys[0])
    assert reader.entries is not None
    assert [found(key) for key in keys] == before
    assert before[0] == before[1] != []
    assert before[6] == before[7] == []


def test_joins_notice_writes_between_rows() -> None:
    connection = sqlvec.connect(":memory:", isolation_level=None)
    connection.execute("pragma sqlvec_engine = row")
    connection.execute("create table a(x)")
    connection.execute("create table b(y integer primary key, z)")
    connection.executemany("insert into a values (?)", [(number % 5,) for number in range(400)])
    connection.executemany("insert into b values (?, ?)", [(number, "old") for number in range(5)])
    seen = []
    for number, (z,) in enumerate(connection.execute("select z from a cross join b on y = x")):
        seen.append(z)
        if number == 299:
            connection.execute("update b set z = 'new'")
    # The cursor is a row ahead of what it hands out.
    assert seen == ["old"] * 301 + ["new"] * 99


def test_late_rows_are_the_rows_of_a_full_sort(monkeypatch: pytest.MonkeyPatch, session: Any) -> None:
    from sqlvec.exec.row import late_rows

    list(session.prepare("create table wide(a integer primary key, b, c text collate nocase, d, e, f, g real)")[0])
    list(session.prepare("insert into wide select a, b, c, a % 3, b || c, a * 2, a from t")[0])
    session.settings.engine = "row"
    queries = ("select * from wide order by b desc, c limit 9", "select *, d + 1 from wide where f > 100 order by c, b nulls last limit 12 offset 3",
               "select e, f, g, a from wide order by d, a desc limit 0", "select x.*, (select 1) from wide x order by c desc, g limit 4")
    found = []
    for large in (10, 10**9):
        monkeypatch.setattr(late_rows, "LARGE", large)
        found.append([list(session.prepare(query)[0]) for query in queries])
    assert found[0] == found[1]
    assert [len(rows) for rows in found[0]] == [9, 12, 0, 4]
