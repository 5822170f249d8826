"""What generated code raises becomes the error of the original."""
from __future__ import annotations

import struct
from pathlib import Path

import pytest

import sqlvec
from sqlvec import errors
from sqlvec.exec.run import translate


def test_damaged_record_is_reported_as_corruption(tmp_path: Path) -> None:
    path = tmp_path / "damaged.db"
    connection = sqlvec.connect(str(path))
    connection.execute("create table t(a, b)")
    connection.execute("insert into t values ('some text', 1234567)")
    connection.commit()
    connection.close()
    data = bytearray(path.read_bytes())
    at = data.rindex(b"some text")
    assert data[at - 3] == 3                    # header size, then the serial types of text and integer
    data[at - 2] = 127                          # a text that is longer than its record
    path.write_bytes(data)
    connection = sqlvec.connect(str(path))
    connection.execute("pragma sqlvec_engine = row")
    with pytest.raises(sqlvec.DatabaseError, match="database disk image is malformed"):
        connection.execute("select * from t where b > 5").fetchall()


def test_translation_of_python_exceptions() -> None:
    assert translate(RecursionError()).code == errors.ERROR  # type: ignore[union-attr]
    assert translate(MemoryError()).code == errors.NOMEM  # type: ignore[union-attr]
    assert translate(OverflowError()).code == errors.TOOBIG  # type: ignore[union-attr]
    scope: dict = {"struct": struct}
    exec(compile("def pipeline(): struct.unpack('>q', b'')", "<sqlvec pipeline>", "exec"), scope)
    try:
        scope["pipeline"]()
    except struct.error as error:
        assert translate(error).code == errors.CORRUPT  # type: ignore[union-attr]
    try:
        int("x")
    except ValueError as error:
        assert translate(error) is None         # not from generated code: a mistake of ours, shown as it is


def test_interrupt_ends_a_scan() -> None:
    connection = sqlvec.connect(":memory:")
    connection.execute("create table t(a)")
    connection.executemany("insert into t values (?)", [(number,) for number in range(3000)])
    rows = iter(connection.execute("select x.a from t x, t y"))
    assert next(rows) == (0,)
    connection.interrupt()
    with pytest.raises(sqlvec.OperationalError, match="interrupted"):
        for _ in rows:
            pass
