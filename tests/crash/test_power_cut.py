"""A cut at every write, sync, truncate and delete of a workload: recovery must find a state that a commit left, and never an older one than promised.

The workload runs once, logged; each prefix of the log gives images of the disk (recording.py), and each image is opened and read.
"""
from __future__ import annotations

import random
import sqlite3

import pytest
from recording import Disk, RecordingVfs

from sqlvec.session.session import Session

SETUP = """
PRAGMA page_size=1024; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c); CREATE INDEX tb ON t(b); CREATE TABLE log(n);
INSERT INTO t WITH RECURSIVE s(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM s WHERE i<30) SELECT i, 'text '||(i*7%30), zeroblob(40) FROM s;
"""
TRANSACTIONS = [
    "BEGIN; UPDATE t SET b='changed '||a WHERE a%2=0; INSERT INTO log VALUES(1); COMMIT;",
    "BEGIN; INSERT INTO t SELECT a+100,b,zeroblob(100) FROM t; DELETE FROM t WHERE a<20; INSERT INTO log VALUES(2); COMMIT;",
    "INSERT INTO log VALUES(3);",
    "BEGIN; CREATE TABLE u(x UNIQUE); INSERT INTO u SELECT a FROM t; DROP INDEX tb; DELETE FROM t WHERE a>50; INSERT INTO log VALUES(4); COMMIT;",
]
READ = ["SELECT type, name FROM sqlite_schema ORDER BY rowid", "SELECT a, b, c FROM t ORDER BY a", "SELECT n FROM log"]
MODES = ["delete", "truncate", "persist", "wal"]
HAS_ORACLE = sqlite3.sqlite_version == "3.40.1"


def content(run):
    return tuple(tuple(map(tuple, run(sql))) for sql in READ)


def open_session(path, vfs=None):
    session = Session()
    session.databases.open_main(str(path), **({} if vfs is None else {"vfs": vfs}))
    assert session.databases[0].pager.file is not None
    return session


def record(folder, mode, cache_size):
    """Run the workload; returns (files at the start, log, states, [(length of the log, commits known to be done)])."""
    path = folder / "t.db"
    session = open_session(path)
    session.run(SETUP)
    states = [content(session.run)]
    session.close()
    start = {"t.db": path.read_bytes()}
    vfs = RecordingVfs()
    session = open_session(path, vfs)
    session.run(f"PRAGMA journal_mode={mode}; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=12; PRAGMA cache_size={cache_size}")
    assert [(mode,)] == session.run("PRAGMA journal_mode")
    promised = [(0, 0)]
    for number, transaction in enumerate(TRANSACTIONS, 1):
        session.run(transaction)
        promised.append((len(vfs.log), number))
        states.append(content(session.run))
    session.close()
    assert len(set(states)) == len(TRANSACTIONS) + 1
    return start, vfs.log, states, promised


def images(start, log, seed):
    """Different (cut, kind, files): after each step one that a killed process leaves, and one that a power loss leaves."""
    generator = random.Random(seed)
    disk = Disk(start)
    seen = set()
    for cut in range(len(log) + 1):
        running = log[cut] if cut < len(log) else None
        torn, some = generator.random() < 0.5, generator.random() < 0.7
        found = [
            ("killed within a write", disk.after_kill(running)) if torn else ("killed", disk.after_kill()),
            ("half of the un-synced lost", disk.after_power_loss(lambda: generator.random() < 0.5))
            if some
            else ("all un-synced lost", disk.after_power_loss(lambda: False)),
        ]
        for kind, files in found:
            key = frozenset((name, hash(data)) for name, data in files.items())
            # a killed process must keep more promises than a power loss: one image may be looked at as both
            if (key, kind[:6]) not in seen:
                seen.add((key, kind[:6]))
                yield cut, kind, files
        if running is not None:
            disk.apply(running)


def lay_out(folder, files):
    for old in folder.iterdir():
        old.unlink()
    for name, data in files.items():
        (folder / name).write_bytes(data)


def check(found, states, promised, cut, kind, mode):
    assert found in states, f"{kind} at step {cut}: a state that never was"
    known = max(number for length, number in promised if length <= cut)
    # deleting a journal isn't durable before the directory is: power loss may bring back the last transaction
    least = known - 1 if mode == "delete" and not kind.startswith("killed") else known
    assert max(least, 0) <= states.index(found) <= known + 1, f"{kind} at step {cut}"


@pytest.mark.parametrize("cache_size", [8, 2000])
@pytest.mark.parametrize("mode", MODES)
def test_recovery(tmp_path, mode, cache_size):
    start, log, states, promised = record(tmp_path, mode, cache_size)
    recovered = tmp_path / "recovered"
    recovered.mkdir()
    kinds = set()
    for cut, kind, files in images(start, log, cache_size):
        lay_out(recovered, files)
        session = open_session(recovered / "t.db")
        try:
            assert [("ok",)] == session.run("PRAGMA integrity_check"), f"{kind} at step {cut}"
            check(content(session.run), states, promised, cut, kind, mode)
            kinds.add(kind)
        finally:
            session.close()
    assert 4 == len(kinds)
    assert {"write", "sync"} <= {step[0] for step in log}


@pytest.mark.skipif(not HAS_ORACLE, reason="the oracle is SQLite 3.40.1")
@pytest.mark.parametrize("mode", MODES)
def test_recovery_by_the_oracle(tmp_path, mode):
    start, log, states, promised = record(tmp_path, mode, 8)
    recovered = tmp_path / "recovered"
    recovered.mkdir()
    for cut, kind, files in images(start, log, 7):
        lay_out(recovered, files)
        connection = sqlite3.connect(recovered / "t.db")
        try:
            assert [("ok",)] == connection.execute("PRAGMA integrity_check").fetchall(), f"{kind} at step {cut}"
            check(content(lambda sql: connection.execute(sql).fetchall()), states, promised, cut, kind, mode)  # noqa: B023
        finally:
            connection.close()


def test_the_model_notices_a_missing_sync(tmp_path):
    """Without the syncs of the log some image must be torn: the other tests can fail."""
    start, log, states, _ = record(tmp_path, "delete", 2000)
    recovered = tmp_path / "recovered"
    recovered.mkdir()
    without = [step for step in log if step[0] != "sync" or not step[1].endswith("-journal")]
    bad = 0
    for _, _, files in images(start, without, 3):
        lay_out(recovered, files)
        session = open_session(recovered / "t.db")
        try:
            bad += [("ok",)] != session.run("PRAGMA integrity_check") or content(session.run) not in states
        except Exception:
            bad += 1
        finally:
            session.close()
    assert bad
