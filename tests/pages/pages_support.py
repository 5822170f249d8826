"""What the tests of the page layer share: the oracle, and small databases."""
from __future__ import annotations

import shutil
import sqlite3
import subprocess

import pytest

from sqlvec.pages import record
from sqlvec.pages.pager import Pager

HAS_ORACLE = sqlite3.sqlite_version == "3.40.1"
needs_oracle = pytest.mark.skipif(not HAS_ORACLE, reason="the oracle is SQLite 3.40.1")


def _cli_version() -> str:
    path = shutil.which("sqlite3")
    if path is None:
        return ""
    return subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.split(" ")[0]


needs_cli = pytest.mark.skipif(_cli_version() != "3.40.1", reason="the oracle is the sqlite3 program 3.40.1")


def oracle(path, sql: str) -> str:
    """Run the sqlite3 program once: another process, so that its locks are real."""
    done = subprocess.run(["sqlite3", str(path), sql], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip()


class OracleProcess:
    """A sqlite3 program that stays, to hold locks and transactions."""

    def __init__(self, path) -> None:
        self.process = subprocess.Popen(
            ["sqlite3", "-batch", str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def __call__(self, sql: str) -> str:
        self.process.stdin.write(f"{sql};\n.print ==\n")
        self.process.stdin.flush()
        lines = []
        while (line := self.process.stdout.readline().rstrip("\n")) != "==":
            lines.append(line)
        return "\n".join(lines)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def make_table(pager: Pager, sql: str = "create table t(a,b)") -> int:
    """A database with one empty table; returns its root."""
    pager.begin_write()
    root = pager.create_tree("WITHOUT ROWID" in sql.upper())
    pager.initialise_schema_fields()
    pager.table_tree(1).insert(1, record.encode(("table", "t", "t", root, sql), pager.encoding))
    pager.commit()
    return root


def count(pager: Pager, root: int = 2) -> int:
    pager.begin_read()
    try:
        return pager.table_tree(root).count_rows()
    finally:
        pager.end_read()


def insert(pager: Pager, first: int, rows: int = 1, width: int = 20, root: int = 2) -> None:
    """One write transaction that adds rows."""
    pager.begin_write()
    try:
        tree = pager.table_tree(root)
        for rowid in range(first, first + rows):
            tree.insert(rowid, record.encode((rowid, "x" * width)))
        pager.commit()
    except BaseException:
        pager.rollback()
        raise
