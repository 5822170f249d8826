"""Shell transcripts: input for the shell with all that SQLite 3.40.1's own shell prints for it.

A transcript file (``tests/cli/transcripts/*.txt``) is a list of records, each ended by a line ``====``::

    select zz;
    ----
    Parse error near line 1: no such column: zz
      select zz;
             ^--- error here
    ====

Each record is run on a new database file ``t.db`` in an empty folder; below ``----`` stand standard output and then standard error.
``python -m tests.transcript_runner --record FILE...`` fills in the answers of the ``sqlite3`` program and refuses any version but 3.40.1.
"""
from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

TRANSCRIPTS = Path(__file__).parent / "cli" / "transcripts"
ROOT = Path(__file__).parents[1]


def read(path: Path) -> list[tuple[str, str | None]]:
    """The records of a file: (input, output or None)."""
    records = []
    for block in path.read_text().split("\n====\n"):
        if block.strip():
            sql, separator, output = (block + "\n").partition("\n----\n")
            records.append((sql.strip("\n"), output if separator else None))
    return records


def run(command: list[str], sql: str) -> str:
    """What a shell prints for ``sql``, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*command, "-batch", "t.db"], input=sql + "\n", capture_output=True, text=True, cwd=folder, timeout=60, check=False)
    return done.stdout + done.stderr


def record(path: Path) -> None:
    """Write the file anew with the answers of the original."""
    parts = []
    for sql, _ in read(path):
        output = run(["sqlite3"], sql)
        parts.append(f"{sql}\n----\n{output}" + ("" if not output or output.endswith("\n") else "\n") + "====\n")
    path.write_text("".join(parts))


if __name__ == "__main__":
    version = subprocess.run(["sqlite3", "--version"], capture_output=True, text=True, check=True).stdout
    if sys.argv[1:2] != ["--record"] or not version.startswith("3.40.1 "):
        sys.exit("usage: python -m tests.transcript_runner --record FILE...   (with the sqlite3 program of version 3.40.1)")
    for name in sys.argv[2:]:
        record(Path(name))
