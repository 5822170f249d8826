"""What a connection says when another one changed the schema under it: statements are prepared under the schema it knows, and made anew while they run."""
from __future__ import annotations

from pathlib import Path

import pytest

from sqlvec.errors import SqlError
from sqlvec.session.session import Session


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Session, Session]:
    path = str(tmp_path / "m.db")
    first = Session.open(path)
    first.run("CREATE TABLE a(x); CREATE TABLE n(x)")
    return first, Session.open(path)


@pytest.mark.parametrize("own_change", ["SELECT 1 FROM n", "ALTER TABLE n ADD y DEFAULT 3", "ALTER TABLE a RENAME TO b", "CREATE INDEX ix ON a(x)"])
def test_a_dropped_table_is_missed_while_running(pair: tuple[Session, Session], own_change: str) -> None:
    first, second = pair
    first.run(own_change)
    second.run("DROP TABLE n")
    statement, _ = first.prepare("SELECT * FROM n")           # well, under the schema of then
    with pytest.raises(SqlError, match="no such table: n") as caught:
        statement.step()
    assert caught.value.phase == "step"
    with pytest.raises(SqlError, match="no such table: n"):   # by now the change is known
        first.prepare("SELECT * FROM n")


def test_a_new_table_is_found_while_preparing(pair: tuple[Session, Session]) -> None:
    first, second = pair
    first.run("SELECT * FROM a")
    second.run("CREATE TABLE later(x); INSERT INTO later VALUES(5)")
    assert first.run("SELECT * FROM later") == [(5,)]
