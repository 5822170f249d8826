"""Leaf decode against files written by the real library: every storage class, widths, overflow, sparse rowids, index trees."""
from __future__ import annotations

import random

import pytest

from sqlvec.pages.columns.batch_scan import ROWID_WISH, FieldWish, index_scan, table_scan
from sqlvec.pages.pager import Pager

sqlite3 = pytest.importorskip("sqlite3", reason="the oracle is Python's sqlite3 module")


def _random_value(rng, wide):
    kind = rng.randrange(9)
    if kind == 0:
        return None
    if kind < 4:
        return rng.choice((0, 1, -1, rng.randrange(-100, 100), rng.randrange(-40000, 40000), rng.randrange(-10**7, 10**7),
                           rng.randrange(-2**31, 2**31), rng.randrange(-2**47, 2**47), rng.randrange(-2**63, 2**63)))
    if kind < 6:
        return rng.choice((0.0, 1.0, -0.5, rng.random(), rng.randrange(1000) / 1.0, 1e300, float("inf")))
    length = rng.choice((0, 1, 3, 8, 20, rng.randrange(70))) if rng.random() > wide else rng.randrange(3000)
    if kind < 8:
        return "".join(rng.choice("abcxyz é€") for _ in range(length))
    return bytes(rng.randrange(256) for _ in range(length))


def _open(path):
    pager = Pager.open(str(path))
    pager.begin_read()
    return pager


def _root(connection, name):
    return connection.execute("select rootpage from sqlite_schema where name = ?", (name,)).fetchone()[0]


def _all_rows(scan, numbers):
    rows = []
    for batch in scan:
        assert batch.first_ordinal == len(rows)
        rows += zip(*[batch.column(number).values() for number in numbers], strict=True)
    return rows


def _same(expected, actual):
    assert len(expected) == len(actual)
    for left, right in zip(expected, actual, strict=True):
        assert [(type(value), value) for value in left] == [(type(value), value) for value in right]


@pytest.mark.parametrize("page_size", [512, 1024, 4096, 65536])
@pytest.mark.parametrize("rowids", ["dense", "sparse", "wild"])
def test_table_of_everything(tmp_path, page_size, rowids):
    rng = random.Random(page_size + len(rowids))
    path = tmp_path / "t.db"
    connection = sqlite3.connect(path)
    connection.execute(f"pragma page_size = {page_size}")
    connection.execute("create table t(a, r real, b, c, i integer, d)")
    for number in range(1500):
        rowid = {"dense": number + 1, "sparse": number * 77 - 9000, "wild": rng.randrange(-2**63, 2**63)}[rowids]
        integer = rng.randrange(5) if number % 3 else rng.randrange(-2**40, 2**40)
        connection.execute("insert into t(rowid, a, r, b, c, i, d) values (?,?,?,?,?,?,?)",
                           (rowid, _random_value(rng, 0.05), _random_value(rng, 0), _random_value(rng, 0.02), _random_value(rng, 0), integer,
                            _random_value(rng, 0.1)))
    connection.execute("alter table t add column late default 'x''y'")
    connection.execute("insert into t(a, late) values (1, 2.5)")
    connection.commit()
    wishes = [FieldWish(0), FieldWish(1, True), FieldWish(2), FieldWish(3), FieldWish(4), FieldWish(5), FieldWish(6, default="x'y")]
    pager = _open(path)
    root = _root(connection, "t")
    expected = connection.execute("select rowid, * from t order by rowid").fetchall()
    _same(expected, _all_rows(table_scan(pager, root, wishes), [ROWID_WISH, 0, 1, 2, 3, 4, 5, 6]))
    _same([row[:3] for row in expected], _all_rows(table_scan(pager, root, wishes[:2], 1, 1), [ROWID_WISH, 0, 1]))
    _same([row[5:6] for row in expected], _all_rows(table_scan(pager, root, wishes[4:5]), [0]))


@pytest.mark.parametrize("page_size", [512, 4096])
def test_index_trees(tmp_path, page_size):
    rng = random.Random(page_size)
    path = tmp_path / "t.db"
    connection = sqlite3.connect(path)
    connection.execute(f"pragma page_size = {page_size}")
    connection.execute("create table t(a, b integer)")
    connection.execute("create table w(k text, v real, x, primary key(k, x)) without rowid")
    for _number in range(3000):
        connection.execute("insert into t values (?,?)", (_random_value(rng, 0.03), rng.randrange(1000)))
        connection.execute("insert or ignore into w values (?,?,?)", (f"k{rng.randrange(10**6)}", rng.random(), "y" * rng.randrange(400)))
    connection.execute("create index ab on t(a, b)")
    connection.commit()
    pager = _open(path)
    scan = index_scan(pager, _root(connection, "ab"), [FieldWish(0), FieldWish(1), FieldWish(2)])
    _same(connection.execute("select a, b, rowid from t indexed by ab order by a, b, rowid").fetchall(), _all_rows(scan, [0, 1, 2]))
    scan = index_scan(pager, _root(connection, "w"), [FieldWish(0), FieldWish(1), FieldWish(2, True)], 2, 8)
    _same(connection.execute("select k, x, v from w order by k, x").fetchall(), _all_rows(scan, [0, 1, 2]))


def test_take_keeps_what_was_gathered(tmp_path):
    path = tmp_path / "t.db"
    connection = sqlite3.connect(path)
    connection.execute("create table t(a, b)")
    connection.executemany("insert into t values (?, ?)", [(number % 7, f"text {number}") for number in range(5000)])
    connection.commit()
    import numpy as np

    got = []
    for batch in table_scan(_open(path), _root(connection, "t"), [FieldWish(0), FieldWish(1)]):
        keep = np.flatnonzero(batch.column(0).bits == 3)
        kept = batch.take(keep)
        got += zip(kept.rowids().tolist(), kept.ordinals().tolist(), kept.column(0).values(), kept.column(1).values(), strict=True)
    expected = connection.execute("select rowid, rowid - 1, a, b from t where a = 3").fetchall()
    assert expected == got
