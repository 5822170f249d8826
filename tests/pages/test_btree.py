"""Trees against the real writer: the same operations must give the same pages, and readable files."""
from __future__ import annotations

import random
import sqlite3

import pytest
from pages_support import needs_oracle

from sqlvec.pages import integrity, record, storage_stats
from sqlvec.pages.backup import replace_content
from sqlvec.pages.bulk_load import fill_index
from sqlvec.pages.key_layout import KeyLayout
from sqlvec.pages.pager import Pager


def operations(seed: int, order: str, count: int, deletes: float, big: bool, first: int):
    """A list of (what, key, value) over a growing and shrinking table."""
    source = random.Random(seed)
    keys = list(range(first, first + count))
    if order == "random":
        source.shuffle(keys)
    elif order == "descending":
        keys.reverse()
    live: list[int] = []
    for key in keys:
        size = source.randrange(100, 4000) if big and source.random() < 0.03 else source.choice((0, 1, 3, 10, 30, 90))
        yield "insert", key, b"x" * size
        live.append(key)
        if source.random() < deletes:
            yield "delete", live.pop(source.randrange(len(live))), b""
        if live and source.random() < deletes / 3:
            yield "update", source.choice(live), b"y" * source.choice((0, 5, 50, 1200 if big else 3))


SQL = {"insert": "insert into t(v,k) values(?,?)", "update": "update t set v=? where k=?", "delete": "delete from t where ?=x'' and k=?"}


def run_both(path, page_size, is_table, order, deletes, big, auto_vacuum=0, count=400):
    """Do everything here and with the oracle; returns (oracle connection, pager, tree, live rows)."""
    real = sqlite3.connect(path, isolation_level=None)
    real.execute(f"pragma page_size={page_size}")
    real.execute(f"pragma auto_vacuum={auto_vacuum}")
    real.execute("pragma synchronous=off")
    sql = f"create table t(k {'integer ' if is_table else ''}primary key, v)" + ("" if is_table else " without rowid")
    real.execute(sql)
    pager = Pager.open(None)
    pager.set_page_size(page_size)
    pager.auto_vacuum = auto_vacuum
    pager.begin_write()
    root = pager.create_tree(not is_table)
    pager.initialise_schema_fields()
    pager.table_tree(1).insert(1, record.encode(("table", "t", "t", root, sql.replace("create table", "CREATE TABLE", 1))))
    tree = pager.table_tree(root) if is_table else pager.index_tree(root, KeyLayout(1))
    live: dict[int, bytes] = {}
    real.execute("begin")
    for what, key, value in operations(page_size + auto_vacuum, order, count, deletes, big, -50 if is_table else 0):
        real.execute(SQL[what], (value, key))
        if what == "delete":
            del live[key]
            assert tree.delete(key if is_table else (key,))
            continue
        live[key] = value
        if is_table:
            tree.insert(key, record.encode((None, value)))
        else:
            tree.insert(record.encode((key, value)), (key, value))
    return real, pager, tree, live


@needs_oracle
@pytest.mark.parametrize("auto_vacuum", [0, 1, 2])
@pytest.mark.parametrize("order", ["ascending", "random", "descending"])
@pytest.mark.parametrize("is_table", [True, False])
@pytest.mark.parametrize(("page_size", "deletes", "big"), [(512, 0.0, False), (512, 0.6, True), (1024, 0.7, False), (4096, 0.5, True)])
def test_pages_are_those_of_the_real_writer(tmp_path, page_size, is_table, order, deletes, big, auto_vacuum):
    real, pager, tree, live = run_both(tmp_path / "r.db", page_size, is_table, order, deletes, big, auto_vacuum)
    expected = real.execute("select path,pageno,pagetype,ncell,payload,unused,mx_payload,pgoffset from dbstat where name='t'").fetchall()
    assert expected == list(storage_stats.page_rows(pager, tree.root))
    assert real.execute("pragma freelist_count").fetchone()[0] == pager.freelist_count
    pager.commit()
    real.execute("commit")
    assert real.execute("pragma page_count").fetchone()[0] == pager.page_count
    assert [] == integrity.check_structure(pager, [1, tree.root])
    copy = tmp_path / "o.db"
    copy.write_bytes(b"".join(bytes(pager.get(page_no)) for page_no in range(1, pager.page_count + 1)))
    reader = sqlite3.connect(copy)
    assert [("ok",)] == reader.execute("pragma integrity_check").fetchall()
    assert sorted(live.items()) == reader.execute("select k,v from t order by k").fetchall()
    reader.close()
    real.close()


@needs_oracle
@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
@pytest.mark.parametrize("page_size", [512, 65536])
def test_reading_files_of_the_real_writer(tmp_path, page_size, encoding):
    path = tmp_path / "t.db"
    real = sqlite3.connect(path)
    real.execute(f"pragma page_size={page_size}")
    real.execute(f"pragma encoding='{encoding}'")
    real.execute("create table t(a integer,b text,c,d real)")
    real.execute("create index i on t(b desc, c)")
    rows = [
        (n * 7 % 1000, f"x{n * 37 % 997}" + "é" * (n % 3), None if n % 5 == 0 else b"z" * (n % 2000) if n % 50 == 1 else n * 1.5, float(n))
        for n in range(1500)
    ]
    real.executemany("insert into t values(?,?,?,?)", rows)
    real.commit()
    pager = Pager.open(str(path))
    pager.begin_read()
    project = record.projector((0, 1, 2, 3), pager.encoding, frozenset({3}))
    tree = pager.table_tree(2)
    expected = real.execute("select rowid,* from t").fetchall()
    assert expected == [(rowid, *project(payload)) for block in tree.blocks() for rowid, payload in block]
    assert list(range(250, 99, -1)) == [rowid for block in tree.blocks(100, 250, True) for rowid, _ in block]
    assert expected[76][1:] == project(tree.get(77))
    assert (None, 1500, 1) == (tree.get(5000), tree.max_rowid(), tree.min_rowid())
    index = pager.index_tree(3, KeyLayout(3, (True,), (), pager.encoding))

    def entries(*bounds):
        return [record.decode(payload, pager.encoding) for block in index.blocks(*bounds) for payload in block]

    query = "select b,c,rowid from t where b between ? and ? order by b desc,c,rowid"
    assert real.execute(query, ("x", "z")).fetchall() == entries()
    assert real.execute(query, ("x2", "x5")).fetchall() == entries((("x5",), False), (("x2",), True))
    assert real.execute(query, ("x2", "x5")).fetchall()[::-1] == entries((("x5",), False), (("x2",), True), True)
    leaves, rows_estimated = tree.physical_size()
    assert abs(leaves - len(tree.leaf_pages())) <= max(1, leaves // 10)
    assert abs(rows_estimated - 1500) <= 300
    assert (1500, 1500) == (tree.count_rows(), index.count_entries())
    pager.end_read()
    pager.close()
    real.close()


def test_collations_and_mixed_classes():
    pager = Pager.open(None)
    pager.begin_write()
    tree = pager.index_tree(pager.create_tree(True), KeyLayout(2, (False, True), (str.lower, None)))
    values = [None, 3, 2.5, -1, "b", "A", "a", b"x", b""]
    rows = [(left, right) for left in values for right in (None, 1, "q", b"q")]
    shuffled = list(rows)
    random.Random(2).shuffle(shuffled)
    for row in shuffled:
        tree.insert(record.encode(row), row)
    found = [record.decode(payload) for block in tree.blocks() for payload in block]
    firsts = [row[0] for row in found]
    order = [None, -1, 2.5, 3, "a", "b", b"", b"x"]
    folded = [value.lower() if isinstance(value, str) else value for value in firsts]
    assert order == list(dict.fromkeys(folded))
    assert [b"q", "q", 1, None] == [row[1] for row in found[:4]]
    # "A" and "a" are one key: the later one replaced the earlier
    assert len(rows) - 4 == len(found)
    assert tree.delete((3, "q"))
    assert not tree.delete((3, "q"))
    assert len(rows) - 5 == tree.count_entries()


def test_write_count_and_savepoints():
    pager = Pager.open(None)
    pager.begin_write()
    root = pager.create_tree(False)
    tree = pager.table_tree(root)
    for rowid in range(2000):
        tree.insert(rowid, b"\x02\x08")
    before = tree.write_count
    outer = pager.savepoint()
    for rowid in range(0, 2000, 2):
        tree.delete(rowid)
    inner = pager.savepoint()
    pager.clear_tree(root)
    assert tree.count_rows() == 0
    pager.rollback_to(inner)
    assert 1000 == tree.count_rows()
    pager.release(inner)
    pager.rollback_to(outer)
    pager.release(outer)
    assert 2000 == tree.count_rows()
    assert tree.write_count > before
    tree.insert(5000, b"\x02\x09")
    assert 5000 == tree.max_rowid()
    pager.rollback()
    assert 0 == pager.page_count


@needs_oracle
@pytest.mark.parametrize("auto_vacuum", [0, 1])
@pytest.mark.parametrize("page_size", [512, 1024])
@pytest.mark.parametrize(("count", "width"), [(10, 0), (900, 3), (3000, 0), (1500, 60), (300, 900)])
def test_index_from_sorted_entries(tmp_path, page_size, count, width, auto_vacuum):
    real = sqlite3.connect(tmp_path / "r.db")
    real.execute(f"pragma page_size={page_size}")
    real.execute(f"pragma auto_vacuum={auto_vacuum}")
    source = random.Random(count)
    rows = [(n, "abc" + "x" * source.randrange(width + 1) + str(source.randrange(10**6))) for n in range(1, count + 1)]
    real.executescript("create table t(a); create table u(a, b); drop table t" if not auto_vacuum else "create table u(a,b)")
    real.execute("create index i on u(b)")
    real.execute("drop index i")
    real.execute("vacuum")
    real.executemany("insert into u values(?,?)", rows)
    real.commit()
    pager = Pager.open(str(tmp_path / "r.db"))
    pager.begin_read()
    memory = Pager.open(None)
    memory.set_page_size(page_size)
    memory.auto_vacuum = auto_vacuum
    memory.begin_write()
    replace_content(memory, pager)
    pager.end_read()
    pager.close()
    real.execute("create index i on u(b)")
    real.commit()
    root = memory.create_tree(True)
    tree = memory.index_tree(root, KeyLayout(2))
    fill_index(tree, [record.encode((text, number)) for text, number in sorted((row[1], row[0]) for row in rows)])
    expected = real.execute("select path,pageno,pagetype,ncell,payload,unused,mx_payload,pgoffset from dbstat where name='i'").fetchall()
    assert expected == list(storage_stats.page_rows(memory, root))
    assert [] == integrity.check_structure(memory, [1, 3 if auto_vacuum else 2, root])
    real.close()
