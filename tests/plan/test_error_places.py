"""Where errors of name resolution say they are: offsets into the SQL text, None where the original knows no place."""
from __future__ import annotations

import pytest

from sqlvec.errors import SqlError
from sqlvec.session.session import Session

PLACES = [
    ("SELECT * FROM t WHERE a = (SELECT * FROM t)", "row value misused", "a ="),
    ("SELECT * FROM t WHERE NOT (b = (1, 2))", "row value misused", "b ="),
    ("SELECT * FROM t WHERE +b = (1, 2)", "row value misused", "b ="),
    ("SELECT * FROM t WHERE b+1 = (1, 2)", "row value misused", "b+1"),
    ("SELECT * FROM t WHERE b BETWEEN (1, 2) AND 3", "row value misused", "b BETWEEN"),
    ("SELECT * FROM t WHERE (1, 2) = b", "row value misused", None),
    ("SELECT a FROM t ORDER BY 1+min(a)", "misuse of aggregate: min()", "min("),
    ("SELECT * FROM t ORDER BY 1, 0", "2nd ORDER BY term out of range - should be between 1 and 2", "0"),
    ("SELECT * FROM t ORDER BY -1", "1st ORDER BY term out of range - should be between 1 and 2", "1"),
    ("SELECT * FROM t ORDER BY 1, 5", "2nd ORDER BY term out of range - should be between 1 and 2", None),
    ("SELECT a FROM t GROUP BY 70000", "1st GROUP BY term out of range - should be between 1 and 1", "70000"),
    ("SELECT * FROM t INNER BOGUS CROSS JOIN t", "unknown join type: INNER BOGUS CROSS", "INNER"),
]


@pytest.mark.parametrize(("sql", "message", "place"), PLACES)
def test_place(sql: str, message: str, place: str | None) -> None:
    session = Session.open(":memory:")
    list(session.prepare("CREATE TABLE t(a, b)")[0])
    with pytest.raises(SqlError) as caught:
        session.prepare(sql)
    assert caught.value.message == message
    assert caught.value.offset == (None if place is None else sql.rindex(place) if place.isdigit() else sql.index(place))
