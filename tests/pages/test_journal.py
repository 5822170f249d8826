"""Rollback journals, locks between processes, recovery."""
from __future__ import annotations

import os

import pytest
from pages_support import count, insert, make_table, needs_cli, oracle

from sqlvec import errors
from sqlvec.pages import journal, record
from sqlvec.pages.journal_mode import set_journal_mode
from sqlvec.pages.pager import Pager
from sqlvec.pages.super_journal import commit_together

MODES = ["delete", "truncate", "persist", "memory", "off"]


@needs_cli
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("synchronous", [0, 2])
def test_commit_rollback_spill(tmp_path, open_pager, mode, synchronous):
    pager = open_pager()
    set_journal_mode(pager, mode)
    pager.synchronous = synchronous
    pager.set_page_size(1024)
    root = make_table(pager)
    insert(pager, 1, 1000)
    path = tmp_path / "t.db"
    assert "ok\n1000" == oracle(path, "pragma integrity_check; select count(*) from t")
    pager.begin_write()
    for rowid in range(1, 1000, 2):
        pager.table_tree(root).delete(rowid)
    pager.rollback()
    assert 1000 == count(pager)
    oracle(path, "insert into t values(7,8)")
    assert 1001 == count(pager)
    pager.cache_size = 20
    for ends_well in (False, True):
        pager.begin_write()
        tree = pager.table_tree(root)
        for rowid in range(10000, 12000):
            tree.insert(rowid, record.encode((rowid, "y" * 50)))
        for rowid in range(1, 1000, 3):
            tree.delete(rowid)
        depth = pager.savepoint()
        for rowid in range(20000, 22000):
            tree.insert(rowid, record.encode((rowid, "y" * 50)))
        pager.rollback_to(depth)
        assert 11999 == tree.max_rowid()
        pager.release(depth)
        if ends_well:
            pager.commit()
        else:
            pager.rollback()
        expected = 3001 - 333 if ends_well else 1001
        assert expected == count(pager)
        assert f"ok\n{expected}" == oracle(path, "pragma integrity_check; select count(*) from t")


@needs_cli
def test_locks_against_another_process(open_pager, cli):
    pager = open_pager()
    make_table(pager)
    other = cli()
    pager.begin_write()
    assert "locked" in other("insert into t values(1,1)")
    assert "0" == other("select count(*) from t")
    pager.begin_write(exclusive=True)
    assert "locked" in other("select count(*) from t")
    pager.rollback()
    other("begin immediate")
    with pytest.raises(errors.SqlError) as caught:
        pager.begin_write()
    assert errors.BUSY == caught.value.code
    assert 0 == count(pager)
    other("rollback; begin; select count(*) from t")
    pager.begin_write()
    pager.table_tree(2).insert(1, b"\x03\x08\x08")
    with pytest.raises(errors.SqlError):
        pager.commit()
    other("commit")
    pager.commit()
    assert "1" == other("select count(*) from t")


def test_two_pagers_of_one_process(open_pager):
    first, second = open_pager(), open_pager()
    make_table(first)
    assert 0 == count(second)
    first.begin_write()
    with pytest.raises(errors.SqlError):
        second.begin_write()
    first.commit()
    insert(second, 1)
    assert 1 == count(first)


@needs_cli
def test_a_real_hot_journal_is_replayed(tmp_path, open_pager, cli):
    path = tmp_path / "t.db"
    oracle(path, "create table t(a,b); with recursive c(x) as (values(1) union all select x+1 from c where x<3000) insert into t select x,'abc'||x from c")
    victim = cli()
    victim("pragma cache_size=5; begin; update t set b=b||'zzzzzzzzzzzzzzzzzz'; insert into t select a,b from t")
    victim.kill()
    assert (tmp_path / "t.db-journal").exists()
    pager = open_pager()
    assert 3000 == count(pager)
    pager.begin_read()
    assert (77, "abc77") == record.decode(pager.table_tree(2).get(77))
    pager.end_read()
    assert not (tmp_path / "t.db-journal").exists()
    assert "ok" == oracle(path, "pragma integrity_check")


class _Stop(BaseException):
    """Stands for the end of the process."""


def _crash(path: str, where: str, monkeypatch) -> None:
    """A child process that ends inside a commit."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        pager = Pager.open(path)
        pager.begin_write()
        if where == "spill":
            pager.cache_size = 5
        tree = pager.table_tree(2)
        for rowid in range(1, 2001):
            tree.insert(rowid, record.encode((rowid, "q" * 50)))
        if where == "database written":
            journal._finalise = lambda *_: os._exit(1)
        elif where == "journal written":
            journal._write_database = lambda *_: os._exit(1)
        else:
            os._exit(1)
        pager.commit()
    finally:
        os._exit(0)                    # whatever happened: this process is no test runner


@needs_cli
@pytest.mark.parametrize("where", ["spill", "journal written", "database written"])
@pytest.mark.parametrize("recoverer", ["ours", "oracle"])
def test_own_hot_journals(tmp_path, open_pager, where, recoverer, monkeypatch):
    path = tmp_path / "t.db"
    pager = open_pager()
    make_table(pager)
    insert(pager, 1, 2000, 5)
    pager.close()
    _crash(str(path), where, monkeypatch)
    assert (tmp_path / "t.db-journal").exists()
    if recoverer == "ours":
        assert 2000 == count(open_pager())
    assert "ok\n2000\nxxxxx" == oracle(path, "pragma integrity_check; select count(*) from t; select b from t where rowid=77")


@pytest.mark.parametrize("stage", ["before", "after"])
def test_super_journal(tmp_path, open_pager, stage, monkeypatch):
    for name in ("t.db", "u.db"):
        pager = open_pager(name)
        make_table(pager)
        pager.close()
    child = os.fork()
    if child == 0:
        pagers = [Pager.open(str(tmp_path / name)) for name in ("t.db", "u.db")]
        for pager in pagers:
            pager.begin_write()
            pager.table_tree(2).insert(1, b"\x03\x08\x08")
        vfs = pagers[0].vfs
        delete = type(vfs).delete

        def stop(self, path, sync_directory=False):
            if stage == "after":
                delete(self, path, sync_directory)
            os._exit(1)

        type(vfs).delete = stop
        commit_together(pagers)
        os._exit(0)
    os.waitpid(child, 0)
    expected = 0 if stage == "before" else 1
    assert [expected, expected] == [count(open_pager(name)) for name in ("t.db", "u.db")]
    assert ["t.db", "u.db"] == sorted(path.name for path in tmp_path.iterdir())


def test_mode_of_files_that_cannot_change(tmp_path, open_pager):
    pager = open_pager("t.db")
    make_table(pager)
    pager.close()
    path = str(tmp_path / "t.db")
    read_only = Pager.open(path, readonly=True)
    with pytest.raises(errors.SqlError, match="attempt to write a readonly database"):
        set_journal_mode(read_only, "wal")
    assert set_journal_mode(read_only, "truncate") == "truncate"
    read_only.close()
    immutable = Pager.open(path, immutable=True)
    assert set_journal_mode(immutable, "wal") == "delete"
    immutable.close()
    with open(path, "r+b") as file:
        file.seek(18)
        file.write(b"\x03")                        # a write version of the future
    pager = Pager.open(path)
    with pytest.raises(errors.SqlError, match="attempt to write a readonly database"):
        set_journal_mode(pager, "wal")
    pager.close()
