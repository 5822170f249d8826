"""The write-ahead log together with real processes: snapshots, locks, checkpoints, recovery, mode changes."""
from __future__ import annotations

import shutil

import pytest
from pages_support import count, insert, make_table, needs_cli, oracle

from sqlvec import errors
from sqlvec.pages import record
from sqlvec.pages.checkpoint import run_checkpoint
from sqlvec.pages.journal_mode import set_journal_mode

pytestmark = needs_cli


@pytest.fixture
def shared(open_pager, cli):
    """A pager and a real process on one WAL database with 100 rows."""
    pager = open_pager()
    pager.set_page_size(1024)
    make_table(pager)
    assert "wal" == set_journal_mode(pager, "wal")
    insert(pager, 1, 100)
    return pager, cli()


def test_both_write_and_see(shared):
    pager, other = shared
    assert "wal\n100" == other("pragma journal_mode; select count(*) from t")
    other("insert into t values(1,2)")
    assert 101 == count(pager)
    insert(pager, 500, 50)
    assert "151\nok" == other("select count(*) from t; pragma integrity_check")


def test_snapshot(shared):
    pager, other = shared
    pager.begin_read()
    assert 100 == pager.table_tree(2).count_rows()
    other("delete from t where a<50")
    pager.drop_cache()
    assert 100 == pager.table_tree(2).count_rows()
    with pytest.raises(errors.SqlError) as caught:
        pager.begin_write()
    assert errors.BUSY_SNAPSHOT == caught.value.extended
    pager.end_read()
    assert 51 == count(pager)


def test_writers_exclude_each_other(shared):
    pager, other = shared
    pager.begin_write()
    assert "locked" in other("insert into t values(1,1)")
    assert "100" == other("select count(*) from t")
    pager.rollback()
    other("begin immediate")
    with pytest.raises(errors.SqlError) as caught:
        pager.begin_write()
    assert errors.BUSY == caught.value.code


def test_checkpoints(tmp_path, shared):
    pager, other = shared
    busy, frames, done = run_checkpoint(pager)
    assert (0, frames) == (busy, done)
    insert(pager, 700, 10)
    assert "110" == other("select count(*) from t")
    assert (0, 0, 0) == run_checkpoint(pager, "truncate")
    assert 0 == (tmp_path / "t.db-wal").stat().st_size
    insert(pager, 800, 10)
    assert "120\nok" == other("select count(*) from t; pragma integrity_check")
    other("begin; select count(*) from t")
    insert(pager, 900)
    assert 1 == run_checkpoint(pager, "truncate")[0]
    assert "120" == other("select count(*) from t")
    other("commit")
    assert "121" == other("select count(*) from t")
    pager.begin_read()
    other("insert into t values(1,1)")
    assert other("pragma wal_checkpoint(truncate)").startswith("1|")
    pager.end_read()
    assert "0|0|0" == other("pragma wal_checkpoint(truncate)")
    assert 122 == count(pager)


def test_many_frames_use_several_index_blocks(shared):
    pager, other = shared
    pager.wal_autocheckpoint = 0
    insert(pager, 10000, 3)
    insert(pager, 20000, 4100, 900)
    insert(pager, 30000, 3)
    assert pager.wal.header.max_frame > 4062  # the first block is full
    assert "4206\nok" == other("select count(*) from t; pragma quick_check")
    assert 4206 == count(pager)


def test_a_log_without_index_is_recovered(tmp_path, shared, open_pager):
    _pager, other = shared
    other("insert into t values(9,9)")
    for reader in ("ours", "oracle"):
        name = f"{reader}.db"
        shutil.copy(tmp_path / "t.db", tmp_path / name)
        shutil.copy(tmp_path / "t.db-wal", tmp_path / f"{name}-wal")
    copy = open_pager("ours.db")
    assert 101 == count(copy)
    insert(copy, 5000)
    copy.close()
    assert not (tmp_path / "ours.db-wal").exists()
    assert "ok\n102" == oracle(tmp_path / "ours.db", "pragma integrity_check; select count(*) from t")
    assert "ok\n101" == oracle(tmp_path / "oracle.db", "pragma integrity_check; select count(*) from t")


def test_mode_changes(tmp_path, shared):
    pager, other = shared
    assert "100" == other("select count(*) from t")
    with pytest.raises(errors.SqlError):
        set_journal_mode(pager, "delete")
    assert 100 == count(pager)
    assert "locked" in other("pragma journal_mode=delete")
    other.close()
    assert "delete" == set_journal_mode(pager, "delete")
    assert ["t.db"] == [path.name for path in tmp_path.iterdir()]
    insert(pager, 600)
    assert "delete\n101" == oracle(tmp_path / "t.db", "pragma journal_mode; select count(*) from t")


def test_two_pagers_of_one_process(tmp_path, open_pager):
    first, second = open_pager(), open_pager()
    make_table(first)
    set_journal_mode(first, "wal")
    insert(first, 1)
    assert 1 == count(second)
    first.begin_write()
    with pytest.raises(errors.SqlError):
        second.begin_write()
    first.rollback()
    insert(second, 2)
    assert 2 == count(first)
    first.close()
    assert 2 == count(second)
    second.close()
    assert ["t.db"] == [path.name for path in tmp_path.iterdir()]


def test_spilled_transactions(shared):
    pager, other = shared
    pager.cache_size = 20
    for ends_well in (False, True):
        pager.begin_write()
        tree = pager.table_tree(2)
        for rowid in range(10000, 12000):
            tree.insert(rowid, record.encode((rowid, "y" * 50)))
        for rowid in range(1, 100, 3):
            tree.delete(rowid)
        assert pager.wal.tail is not None, "nothing was spilled"
        assert "100" == other("select count(*) from t")
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
        expected = 2067 if ends_well else 100
        assert expected == count(pager)
        assert f"{expected}\nok" == other("select count(*) from t; pragma integrity_check")
    insert(pager, 50000, 5)
    assert "2072\nok" == other("select count(*) from t; pragma integrity_check")
