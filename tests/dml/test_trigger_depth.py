"""Recursive triggers run on an explicit stack: depth 1,000 works in a small thread, one more is an error."""
from __future__ import annotations

import threading

import pytest

import sqlvec

SCHEMA = """
CREATE TABLE t(a);
CREATE TABLE tree(id INTEGER PRIMARY KEY, parent REFERENCES tree ON DELETE CASCADE);
CREATE TRIGGER again AFTER INSERT ON t WHEN new.a > 0 BEGIN INSERT INTO t VALUES (new.a - 1); END;
PRAGMA recursive_triggers = ON;
"""


def in_small_thread(work) -> list:
    """Run ``work`` in a thread of 512 KiB; its result or error."""
    found: list = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            found.append(error)

    size = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
    return found


def insert(depth: int):
    connection = sqlvec.connect(":memory:", isolation_level=None)
    connection.executescript(SCHEMA)
    connection.execute("INSERT INTO t VALUES (?)", (depth,))
    return connection.execute("SELECT count(*) FROM t").fetchone()


def test_a_thousand_levels() -> None:
    assert in_small_thread(lambda: insert(999)) == [(1000,)]


def test_one_level_too_many() -> None:
    (found,) = in_small_thread(lambda: insert(1001))
    assert isinstance(found, sqlvec.OperationalError)
    assert str(found) == "too many levels of trigger recursion"


def test_trigger_recursion_leaves_nothing_behind() -> None:
    connection = sqlvec.connect(":memory:", isolation_level=None)
    connection.executescript(SCHEMA)
    with pytest.raises(sqlvec.OperationalError):
        connection.execute("INSERT INTO t VALUES (5000)")
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)


def cascade(depth: int):
    connection = sqlvec.connect(":memory:", isolation_level=None)
    connection.executescript(SCHEMA)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.executemany("INSERT INTO tree VALUES (?, ?)", [(number, number - 1 or None) for number in range(1, depth)])
    connection.execute("DELETE FROM tree WHERE id = 1")
    return connection.execute("SELECT count(*), total_changes() FROM tree").fetchone()


def test_cascading_deletes_to_depth_900() -> None:
    assert in_small_thread(lambda: cascade(900)) == [(0, 2 * 899)]
