
"""The rule by which input counts as a complete statement."""
from __future__ import annotations

import pytest

from sqlvec.parse.complete import is_complete


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("", False), ("select 1", False), ("select 1;", True), ("select 1; -- c", True), ("select 1; /* c */ ", True), ("select 1; /* c", False),
        ("select ';'", False), ("select 'a", False), ("select \";\";", True), ("select [;];", True), (";", True), ("-- ;", False),
        ("create trigger t insert on x begin select 1;", False), ("create trigger t insert on x begin select 1; end", False),
        ("create trigger t insert on x begin select 1; end;", True), ("create temp trigger t insert on x begin select 1; end ;", True),
        ("explain create trigger t insert on x begin select 1;", False), ("create table trigger(a);", True),
        ("create temporary trigger t insert on x begin select end; end;", True), ("create unique trigger t;", True),
    ],
)  # fmt: skip
def test_is_complete(sql: str, expected: bool) -> None:
    assert is_complete(sql) == expected
