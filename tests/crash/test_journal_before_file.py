"""G3 looked at directly: when a page of the database file is overwritten, its old image is already in the durable part of the journal.

The workload changes many more pages than the cache may hold changed, so that a transaction spills several times.
"""
from __future__ import annotations

import struct

import pytest
from recording import Disk, RecordingVfs
from test_power_cut import open_session

PAGE = 1024
SETUP = f"""
PRAGMA page_size={PAGE}; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); CREATE INDEX tb ON t(b);
INSERT INTO t WITH RECURSIVE s(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM s WHERE i<600) SELECT i, printf('%05d %060d', i*7919%600, i) FROM s;
"""
WORK = """
BEGIN; UPDATE t SET b='x'||b WHERE a<300; SAVEPOINT s; DELETE FROM t WHERE a%3=0; ROLLBACK TO s; INSERT INTO t SELECT a+1000, b FROM t WHERE a<200;
UPDATE t SET b='y'||b; COMMIT;
"""


def durable_pages(journal: bytes) -> set[int]:
    """The pages whose images a recovery would find."""
    found: set[int] = set()
    at = 0
    while at + 28 <= len(journal):
        magic, count, _, _, sector, size = struct.unpack_from(">8sIIIII", journal, at)
        if magic != bytes.fromhex("d9d505f920a163d7"):
            break
        at += sector
        for _ in range(count):
            found.add(struct.unpack_from(">I", journal, at)[0])
            at += size + 8
        at = -(-at // sector) * sector
    return found


@pytest.mark.parametrize("mode", ["delete", "truncate", "persist"])
def test_old_images_are_durable_first(tmp_path, mode):
    path = tmp_path / "t.db"
    session = open_session(path)
    session.run(SETUP)
    session.close()
    start = {"t.db": path.read_bytes()}
    original = len(start["t.db"]) // PAGE
    vfs = RecordingVfs()
    session = open_session(path, vfs)
    session.run(f"PRAGMA journal_mode={mode}; PRAGMA synchronous=FULL; PRAGMA cache_size=8")
    session.run(WORK)
    assert [("ok",)] == session.run("PRAGMA integrity_check")
    session.close()
    disk = Disk(start)
    bursts = written = 0
    previous = ""
    for step in vfs.log:
        if step[0] == "write" and step[1] == "t.db":
            journal = disk.after_power_loss(lambda: False).get("t.db-journal", b"")
            first, count = step[2] // PAGE + 1, len(step[3]) // PAGE
            overwritten = {page_no for page_no in range(first, first + count) if page_no <= original}
            assert overwritten <= durable_pages(journal), f"pages {overwritten - durable_pages(journal)} are not in the journal"
            written += len(overwritten)
            bursts += previous != "t.db"
        previous = step[1]
        disk.apply(step)
    assert written > 100
    assert bursts > 2                              # several spills whose images had to be stored first
