"""The pager's invariants by themselves: who may change a page, what is known to differ from the file, where page bytes come from."""
from __future__ import annotations

import pytest
from pages_support import insert, make_table

from sqlvec.pages import record
from sqlvec.pages.journal_mode import set_journal_mode
from sqlvec.pages.pager import Pager


def fill(pager, count=400):
    root = make_table(pager)
    insert(pager, 1, count)
    return root


def test_only_write_makes_a_page_changeable(open_pager):
    """G1."""
    pager = open_pager("t.db")
    root = fill(pager)
    pager.drop_cache()
    pager.begin_read()
    for page_no in range(1, pager.page_count + 1):
        assert type(pager.get(page_no)) is bytes
    assert {bytes} == {type(page) for page in pager.cache.values()}
    pager.begin_write()
    before = pager.get(root)
    page = pager.write(root)
    assert type(page) is bytearray
    assert page is pager.get(root) is pager.cache[root]
    assert type(before) is bytes
    assert [root] == [page_no for page_no, image in pager.cache.items() if type(image) is bytearray]
    pager.rollback()
    assert type(pager.get(root)) is bytes
    pager.end_read()


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_changed_pages_are_those_that_differ_from_the_file(open_pager, mode):
    """G4, through savepoints, rollbacks and spills."""
    pager = open_pager("t.db")
    fill(pager)
    set_journal_mode(pager, mode)
    pager.begin_read()
    pager.begin_write()
    tree = pager.table_tree(2)
    pager.cache_size = 1

    def check():
        for page_no, page in pager.cache.items():
            if page_no <= pager.page_count and page_no not in pager.changed:
                assert bytes(page) == pager._read_page(page_no), page_no
        assert all(pager.cache[page_no] is page for page_no, page in pager.changed.items())

    for round_ in range(3):
        depth = pager.savepoint()
        for rowid in range(1, 400, 3):
            tree.insert(rowid, record.encode((rowid, "changed" * (20 + round_))))
        check()
        if round_ == 1:
            pager.rollback_to(depth)
            check()
        pager.release(depth)
    pager.commit()
    assert not pager.changed
    check()
    pager.end_read()


@pytest.mark.parametrize("mode", ["delete", "wal"])
@pytest.mark.parametrize("is_changed", [False, True])
def test_every_reader_gets_the_same_bytes(open_pager, mode, is_changed):
    """G5: single pages, runs, and runs into a buffer, with and without own changes."""
    pager = open_pager("t.db")
    fill(pager)
    set_journal_mode(pager, mode)
    insert(pager, 1000, 300)                       # in WAL mode these pages are in the log
    pager.begin_read()
    if is_changed:
        pager.begin_write()
        tree = pager.table_tree(2)
        for rowid in range(1, 60, 7):
            tree.insert(rowid, record.encode((rowid, "own change")))
        assert pager.changed
    numbers = list(range(1, pager.page_count + 1))
    images = [bytes(pager.get(page_no)) for page_no in numbers]
    assert b"".join(images) == pager.read_run(numbers)
    assert b"".join(reversed(images)) == pager.read_run(numbers[::-1])
    buffer = bytearray(len(numbers) * pager.page_size)
    pager.read_runs_into([1], [len(numbers)], memoryview(buffer))
    assert b"".join(images) == bytes(buffer)
    if is_changed:
        pager.rollback()
    pager.end_read()


def test_spilled_pages_are_written_again_when_they_change_again(tmp_path, open_pager):
    """A page that a spill wrote is clean, and the next change of it is a new one."""
    pager = open_pager("t.db")
    fill(pager)
    pager.cache_size = 1
    pager.begin_write()
    tree = pager.table_tree(2)
    for text in ("first" * 30, "second" * 30):
        for rowid in range(1, 400):
            tree.insert(rowid, record.encode((rowid, text)))
    assert pager.journal.database_changed
    assert len(pager.changed) < pager.page_count
    pager.commit()
    other = Pager.open(str(tmp_path / "t.db"))
    other.begin_read()
    assert {"second" * 30} == {record.decode(payload)[1] for block in other.table_tree(2).blocks(1, 399) for _, payload in block}
    other.end_read()
    other.close()
