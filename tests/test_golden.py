"""Every golden script under every entry of the engine matrix."""
from __future__ import annotations

from pathlib import Path

import pytest

import sqlvec
from tests import golden_runner
from tests.engines import matrix


@pytest.mark.parametrize("engine", matrix())
@pytest.mark.parametrize("path", golden_runner.scripts(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_golden(path: Path, engine: str) -> None:
    connection = sqlvec.connect(":memory:", isolation_level=None)
    connection.execute(f"PRAGMA sqlvec_engine = {engine}")
    for record in golden_runner.read(path):
        assert record.expected is not None, f"{path.name}:{record.line} has no recorded answer"
        actual = golden_runner.answer(sqlvec, connection, record.sql)
        assert record.expected == actual, f"{path.name}:{record.line}\n{record.sql}"
    connection.close()


def test_there_are_scripts() -> None:
    assert len(golden_runner.scripts()) >= 20
