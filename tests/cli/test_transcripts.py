"""The shell prints what the original shell prints: messages, places of errors, phases, codes."""
from __future__ import annotations

import os
import sys

import pytest

from tests.transcript_runner import ROOT, TRANSCRIPTS, read, run

RECORDS = [
    pytest.param(sql, output, id=f"{path.stem}-{number}")
    for path in sorted(TRANSCRIPTS.glob("*.txt"))
    for number, (sql, output) in enumerate(read(path), 1)
]


@pytest.mark.parametrize(("sql", "output"), RECORDS)
def test_transcript(sql: str, output: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "PYTHONPATH", str(ROOT))
    assert output is not None, "not recorded"
    assert run([sys.executable, "-m", "sqlvec"], sql) == output
