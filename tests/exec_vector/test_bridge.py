"""Placement, and scans whose table is written while they run."""
from __future__ import annotations

import subprocess
import sys

import pytest

import sqlvec
import sqlvec.exec.bridge as bridge

sqlite3 = pytest.importorskip("sqlite3", reason="the oracle is Python's sqlite3 module")


def _run(connect, path, engine, change):
    connection = sqlite3.connect(path)
    connection.executescript("pragma page_size = 512; drop table if exists t; create table t(a, b)")
    connection.executemany("insert into t values (?, ?)", [(number, "x" * 20) for number in range(1500)])
    connection.commit()
    connection.close()
    connection = connect(path)
    if engine:
        connection.execute(f"pragma sqlvec_engine = {engine}")
    seen = []
    for number, (rowid, a) in enumerate(connection.execute("select rowid, a from t where a % 3 = 0")):
        seen.append((rowid, a))
        change(connection, number, rowid)
    after = connection.execute("select count(*), sum(a) from t").fetchall()
    connection.rollback()
    connection.close()
    return seen, after


def _delete(connection, number, rowid):
    connection.execute("delete from t where rowid in (?, ?)", (rowid, rowid + 30))


def _update(connection, number, rowid):
    connection.execute("update t set a = a + 1 where rowid = ?", (rowid + 6,))


def _insert(connection, number, rowid):
    if number < 40:
        connection.execute("insert into t values (?, 'new')", (300000 + 3 * number,))


@pytest.mark.parametrize("change", [_delete, _update, _insert])
def test_scan_sees_the_changes_of_its_own_connection(tmp_path, change):
    path = str(tmp_path / "t.db")
    before = bridge.restarts
    assert _run(sqlite3.connect, path, None, change) == _run(sqlvec.connect, path, "vector", change)
    assert bridge.restarts > before


def test_small_tables_do_not_load_numpy(tmp_path):
    path = str(tmp_path / "t.db")
    connection = sqlite3.connect(path)
    connection.execute("create table t(a, b)")
    connection.executemany("insert into t values (?, ?)", [(number, "x" * 300) for number in range(20000)])
    connection.commit()
    connection.close()
    script = ("import sys, sqlvec\n"
              "connection = sqlvec.connect(sys.argv[1])\n"
              "print(connection.execute('select a % 10, count(*) from t group by 1').fetchall()[0], 'numpy' in sys.modules)\n"
              "connection.execute('pragma sqlvec_engine = vector')\n"
              "print(connection.execute('select a % 10, count(*) from t group by 1').fetchall()[0], 'numpy' in sys.modules)\n")
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["(0, 2000) False", "(0, 2000) True"]
