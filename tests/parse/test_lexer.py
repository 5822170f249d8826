
"""Tokens: kinds, ends, and what is illegal."""
from __future__ import annotations

import pytest

from sqlvec.parse.lexer import lex


def tokens(sql: str) -> list[tuple[str, str]]:
    kinds: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    lex(sql, 0, kinds, starts, ends)
    return [(kind, sql[start:end]) for kind, start, end in zip(kinds, starts, ends, strict=True)]


def test_one_statement_at_a_time() -> None:
    assert tokens("select 1; select 2") == [("SELECT", "select"), ("INTEGER", "1"), (";", ";")]


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("abc", "ID"), ("a$1_é", "ID"), ('"a""b"', "QUOTED"), ("[a b]", "QUOTED"), ("`a``b`", "QUOTED"), ("'it''s'", "STRING"),
        ("1", "INTEGER"), ("0x1F", "INTEGER"), ("1.", "FLOAT"), (".5", "FLOAT"), ("1.e5", "FLOAT"), ("1e-5", "FLOAT"), ("x'0aFf'", "BLOB"),
        ("?", "VARIABLE"), ("?12", "VARIABLE"), (":a", "VARIABLE"), ("@a", "VARIABLE"), ("$a::b(c)", "VARIABLE"), ("->>", "->>"), ("->", "->"),
        ("<>", "!="), ("==", "="), ("temporary", "TEMP"), ("Left", "JOIN_KW"), ("glob", "LIKE_KW"), ("current_date", "CTIME_KW"),
    ],
)  # fmt: skip
def test_kinds(sql: str, kind: str) -> None:
    assert tokens(sql) == [(kind, sql), ("EOF", "")]


@pytest.mark.parametrize(
    ("sql", "token"),
    [
        ("'abc", "'abc"), ('"abc', '"abc'), ("[abc", "[abc"), ("x'1'", "x'1'"), ("x'1g' + 1", "x'1g'"), ("12abc", "12abc"), ("1e", "1e"), ("1e+", "1e"),
        ("0x", "0x"), ("1__", "1__"), ("@", "@"), (":", ":"), ("!1", "!"), ("^", "^"), ("\x0b", "\x0b"), ("$a(b c", "$a(b"),
    ],
)  # fmt: skip
def test_illegal_tokens(sql: str, token: str) -> None:
    assert tokens(sql)[0] == ("ILLEGAL", token)


def test_hex_runs_into_a_word() -> None:
    assert tokens("0x1g")[:2] == [("INTEGER", "0x1"), ("ID", "g")]


def test_comments_and_blanks() -> None:
    assert tokens("/* a */ -- b\n \x0b1 /* open") == [("INTEGER", "1"), ("EOF", "")]
    assert [kind for kind, _ in tokens("1 /*")] == ["INTEGER", "/", "*", "EOF"]
    assert tokens("\ufeff1")[0] == ("INTEGER", "1")
    assert tokens("a\ufeffb")[0] == ("ID", "a\ufeffb")


def test_nul_ends_the_text() -> None:
    assert tokens("1\0 2") == [("INTEGER", "1"), ("EOF", "")]
    assert tokens("\0")[0] == ("EOF", "")


def test_contextual_words() -> None:
    assert [kind for kind, _ in tokens("over window filter")] == ["ID", "ID", "ID", "EOF"]
    assert "OVER" in [kind for kind, _ in tokens("f(1) over w")]
    assert "OVER" in [kind for kind, _ in tokens("f(1) filter (where 1) over (order by 1)")]
    assert "WINDOW" in [kind for kind, _ in tokens("from t window w as ()")]
    assert "WINDOW" not in [kind for kind, _ in tokens("from t window where 1")]
