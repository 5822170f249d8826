"""Whatever call fails, wherever a writer ends: the file holds the state before the transaction or the one after it, and is sound."""
from __future__ import annotations

import os

import pytest
from faults import FaultyVfs, Plan, PowerCut

from sqlvec import errors
from sqlvec.pages import integrity, record
from sqlvec.pages.journal_mode import set_journal_mode
from sqlvec.pages.pager import Pager

MODES = ["delete", "truncate", "persist", "wal"]
OLD = {rowid: "old" * (rowid % 9) for rowid in range(1, 200)}
NEW = {rowid: "new" * (rowid % 13) for rowid in range(1, 260) if rowid % 3}


def fill(path: str, mode: str) -> None:
    pager = Pager.open(path)
    pager.set_page_size(512)
    pager.begin_write()
    root = pager.create_tree(False)
    pager.initialise_schema_fields()
    pager.table_tree(1).insert(1, record.encode(("table", "t", "t", root, "create table t(a)")))
    for rowid, text in OLD.items():
        pager.table_tree(root).insert(rowid, record.encode((text,)))
    pager.commit()
    set_journal_mode(pager, mode)
    pager.close()


def change(path: str, plan: Plan, mode: str) -> Pager:
    """The transaction from OLD to NEW; what fails is rolled back as a connection does it.  Returns the open pager."""
    pager = Pager.open(path, vfs=FaultyVfs(plan))
    try:
        set_journal_mode(pager, mode)
        pager.cache_size = 20
        pager.wal_autocheckpoint = 10
        pager.begin_write()
        tree = pager.table_tree(2)
        for rowid in OLD:
            tree.delete(rowid)
        for rowid, text in NEW.items():
            tree.insert(rowid, record.encode((text,)))
        pager.commit()
    except errors.SqlError:
        pager.rollback()
    return pager


def content(path: str) -> dict[int, str]:
    """What a new connection reads; the structure must be sound."""
    pager = Pager.open(path)
    pager.begin_read()
    try:
        rows = {rowid: record.decode(payload)[0] for block in pager.table_tree(2).blocks() for rowid, payload in block}
        assert [] == integrity.check_structure(pager, [1, 2])
        assert len(rows) == pager.table_tree(2).count_rows()
        return rows
    finally:
        pager.end_read()
        pager.close()


def calls_needed(tmp_path, mode: str) -> int:
    path = str(tmp_path / "count.db")
    fill(path, mode)
    plan = Plan()
    change(path, plan, mode).close()
    assert content(path) == NEW
    return plan.calls


@pytest.mark.parametrize("sticky", [False, True])
@pytest.mark.parametrize("make", [errors.io_error, errors.full])
@pytest.mark.parametrize("mode", MODES)
def test_failing_calls(tmp_path, mode, make, sticky):
    total = calls_needed(tmp_path, mode)
    for at in range(1, total + 1, max(1, total // 20)):
        path = str(tmp_path / f"{at}.db")
        fill(path, mode)
        plan = Plan(at, make, sticky)
        pager = change(path, plan, mode)
        plan.at = 0
        # the connection that failed goes on, and agrees with a new one
        try:
            pager.begin_read()
            own = pager.table_tree(2).count_rows()
            pager.end_read()
        except errors.SqlError:
            own = None
        pager.close()
        found = content(path)
        assert found in (OLD, NEW), at
        assert own in (None, len(found)), at


@pytest.mark.parametrize("mode", MODES)
def test_writer_ends_at_a_call(tmp_path, mode):
    total = calls_needed(tmp_path, mode)
    for at in range(1, total + 1, max(1, total // 12)):
        path = str(tmp_path / f"{at}.db")
        fill(path, mode)
        child = os.fork()
        if child == 0:
            try:
                change(path, Plan(at, PowerCut), mode)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert content(path) in (OLD, NEW), at
        # a journal that was never valid may stay, a log does not survive its last reader
        assert not os.path.exists(path + "-wal"), at


def test_failed_change_must_be_rolled_back(tmp_path):
    path = str(tmp_path / "t.db")
    fill(path, "delete")
    pager = Pager.open(path)
    pager.begin_write()
    tree = pager.table_tree(2)
    tree.insert(1000, record.encode(("x",)))
    page_no = tree.leaf_pages()[0]
    pager.write(page_no)[0] = 77
    pager.forget_node(page_no)
    with pytest.raises(errors.SqlError):
        tree.insert(1, record.encode(("y",)))
    with pytest.raises(errors.SqlError):
        pager.commit()
    pager.rollback()
    pager.close()
    assert content(path) == OLD
