"""The structural check must say what the real one says about damaged files."""
from __future__ import annotations

import random
import sqlite3

import pytest
from pages_support import needs_cli, needs_oracle, oracle

from sqlvec.pages import integrity
from sqlvec.pages.backup import Backup
from sqlvec.pages.pager import Pager

pytestmark = [needs_oracle, needs_cli]


def build(path, auto_vacuum: int, page_size: int) -> list[int]:
    """Three trees with overflow, free pages; returns their roots in the order in which the real one visits them."""
    real = sqlite3.connect(path)
    real.execute(f"pragma page_size={page_size}")
    real.execute(f"pragma auto_vacuum={auto_vacuum}")
    real.executescript("create table t(a,b); create index i on t(b); create table w(k primary key, v) without rowid;")
    source = random.Random(5)
    for n in range(300):
        text = "x" * source.choice((3, 10, 50, 50, 700)) + str(n)
        real.execute("insert into t values(?,?)", (n, text))
        real.execute("insert into w values(?,?)", (text, n))
    real.execute("delete from t where a%3=0")
    real.commit()
    roots = dict(real.execute("select name,rootpage from sqlite_schema"))
    real.close()
    return [roots["w"], roots["t"], roots["i"], 1]


@pytest.mark.parametrize(("auto_vacuum", "page_size"), [(0, 512), (1, 512), (2, 1024)])
def test_messages(tmp_path, auto_vacuum, page_size):
    path = tmp_path / "t.db"
    roots = build(path, auto_vacuum, page_size)
    sound = path.read_bytes()
    for trial in range(-1, 25):
        data = bytearray(sound)
        source = random.Random(trial)
        for _ in range(0 if trial < 0 else source.choice((1, 1, 2, 5))):
            page = source.randrange(1, len(data) // page_size) if trial % 2 else source.choice(roots[:3]) - 1
            at = page * page_size + (source.randrange(12) if source.random() < 0.5 else source.randrange(page_size))
            data[at] = source.choice((0, 1, 2, 255, source.randrange(256)))
        path.write_bytes(data)
        lines = oracle(path, "pragma quick_check").split("\n")
        expected = lines[1:] if lines[0].startswith("***") else []
        pager = Pager.open(str(path))
        pager.begin_read()
        found = integrity.check_structure(pager, roots)
        pager.end_read()
        pager.close()
        assert expected[: len(found)] == found, trial
        assert trial >= 0 or lines == ["ok"]


def test_backup(tmp_path):
    path = tmp_path / "t.db"
    build(path, 0, 512)
    source = Pager.open(str(path))
    target_path = tmp_path / "copy.db"
    oracle(target_path, "create table z(a); insert into z values(zeroblob(100000))")
    target = Pager.open(str(target_path))
    backup = Backup(target, source)
    assert backup.step()
    source.close()
    target.close()
    assert path.read_bytes()[100:] == target_path.read_bytes()[100:]
    assert "ok\n200" == oracle(target_path, "pragma integrity_check; select count(*) from t")
