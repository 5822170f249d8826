"""Fixtures of the page layer's tests."""
from __future__ import annotations

import pytest
from pages_support import OracleProcess

from sqlvec.pages.pager import Pager


@pytest.fixture
def cli(tmp_path):
    """Oracle processes on ``tmp_path / 't.db'``, closed at the end."""
    made = []

    def start(name: str = "t.db") -> OracleProcess:
        made.append(OracleProcess(tmp_path / name))
        return made[-1]

    yield start
    for process in made:
        if process.process.poll() is None:
            process.close()


@pytest.fixture
def open_pager(tmp_path):
    """Pagers on files below ``tmp_path``, closed at the end."""
    made = []

    def start(name: str = "t.db", **options) -> Pager:
        made.append(Pager.open(str(tmp_path / name), **options))
        return made[-1]

    yield start
    for pager in made:
        pager.close()
