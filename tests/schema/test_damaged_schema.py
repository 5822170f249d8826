"""Stored schemas that don't hold together: what is refused, what writable_schema and VACUUM still do with them."""
from __future__ import annotations

from pathlib import Path

import pytest

from sqlvec.errors import SqlError
from sqlvec.session.session import Session


def damaged(tmp_path: Path, change: str) -> Session:
    path = str(tmp_path / "m.db")
    session = Session.open(path)
    session.run("CREATE TABLE a(x); CREATE INDEX ix ON a(x); CREATE TABLE b(y); INSERT INTO a VALUES(1),(2); INSERT INTO b VALUES(3)")
    session.run("PRAGMA writable_schema=ON")
    session.run(change)
    return Session.open(path)


def test_text_that_cannot_be_parsed(tmp_path: Path) -> None:
    session = damaged(tmp_path, "UPDATE sqlite_schema SET sql='CREATE TABLE a(;x)' WHERE name='a'")
    with pytest.raises(SqlError, match=r'malformed database schema \(a\) - near ";": syntax error'):
        session.run("SELECT * FROM b")
    with pytest.raises(SqlError, match=r"^unable to open database: $") as caught:
        session.run("VACUUM")
    assert caught.value.code == 11
    session.run("PRAGMA writable_schema=ON")
    assert session.run("SELECT * FROM b") == [(3,)]
    assert session.run("SELECT count(*) FROM sqlite_schema") == [(3,)]
    with pytest.raises(SqlError, match="no such table: a"):
        session.run("SELECT * FROM a")


def test_row_that_disagrees_with_its_text(tmp_path: Path) -> None:
    session = damaged(tmp_path, "UPDATE sqlite_schema SET type='inde' WHERE name='ix'")
    with pytest.raises(SqlError, match=r"malformed database schema \(ix\)$"):
        session.run("SELECT * FROM b")
    session.run("VACUUM")
    assert session.run("SELECT name FROM sqlite_schema") == [("a",), ("b",)]
    assert session.run("SELECT * FROM a") == [(1,), (2,)]
    assert session.run("PRAGMA integrity_check") == [("ok",)]


def test_encoding_is_two_bits(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    Session.open(str(path)).run("CREATE TABLE a(x)")
    image = bytearray(path.read_bytes())
    image[56:60] = (5).to_bytes(4, "big")
    path.write_bytes(image)
    assert Session.open(str(path)).run("PRAGMA encoding") == [("UTF-8",)]
    image[56:60] = (6).to_bytes(4, "big")
    path.write_bytes(image)
    with pytest.raises(SqlError, match="malformed database schema"):
        Session.open(str(path)).run("SELECT * FROM a")
