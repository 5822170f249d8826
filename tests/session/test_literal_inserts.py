"""INSERTs of literals that share a plan behave like ones prepared on their own."""
from __future__ import annotations

import pytest

from sqlvec.errors import SqlError
from sqlvec.session.literal_inserts import LiteralInsert
from sqlvec.session.session import Session


@pytest.fixture
def session() -> Session:
    opened = Session.open(":memory:")
    opened.run("CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT UNIQUE)")
    return opened


def test_second_statement_of_a_shape_is_kept(session: Session) -> None:
    session.run("INSERT INTO t VALUES(1,'a')")
    statement, end = session.prepare("INSERT INTO t VALUES(2,'b');")
    assert isinstance(statement, LiteralInsert)
    assert end == 28
    assert statement.parameters == []
    statement.bind(())
    assert list(statement) == []
    session.run("INSERT INTO t VALUES(NULL,x'00')")
    assert session.run("SELECT * FROM t") == [(1, "a"), (2, "b"), (3, b"\x00")]
    assert session.transaction.changes == 1


def test_errors_are_those_of_the_text(session: Session) -> None:
    for number in range(1, 4):
        session.run(f"INSERT INTO t VALUES({number},'{number}')")
    with pytest.raises(SqlError, match=r"UNIQUE constraint failed: t\.b"):
        session.run("INSERT INTO t VALUES(9,'1')")
    for _ in range(3):
        with pytest.raises(SqlError, match="table t has 2 columns but 3 values were supplied"):
            session.run("INSERT INTO t VALUES(9,'1',2)")
    assert session.run("SELECT count(*) FROM t") == [(3,)]


def test_schema_changes_are_seen(session: Session) -> None:
    for number in range(3):
        session.run(f"INSERT INTO t VALUES({number},'{number}')")
    session.run("CREATE TABLE log(x)")
    session.run("CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log VALUES(new.a); END")
    session.run("INSERT INTO t VALUES(10,'10')")
    assert session.run("SELECT * FROM log") == [(10,)]
    session.run("DROP TABLE t")
    with pytest.raises(SqlError, match="no such table: t") as caught:
        session.prepare("INSERT INTO t VALUES(11,'11')")
    assert caught.value.message == "no such table: t"
