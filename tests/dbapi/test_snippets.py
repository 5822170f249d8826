"""The module against what the standard module printed for the same snippets (see snippet_runner.py)."""
from __future__ import annotations

import pytest

import sqlvec
from tests.dbapi.snippet_runner import FOLDER, read, run

CASES = [pytest.param(code, expected, id=f"{path.stem}-{name}") for path in sorted(FOLDER.glob("*.txt")) for name, code, expected in read(path)]


@pytest.mark.parametrize(("code", "expected"), CASES)
def test_snippet(code: str, expected: list[str]) -> None:
    assert expected
    assert run(sqlvec, code) == expected
