
"""The shell from outside: arguments and standard input in, bytes and status out."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def shell(script: str, *arguments: str, cwd: Path | None = None) -> tuple[str, str, int]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": "/nonexistent"}
    done = subprocess.run(
        [sys.executable, "-m", "sqlvec", *arguments], input=script.encode("utf-8", "surrogateescape"), capture_output=True, env=environment,
        cwd=cwd, check=False,
    )  # fmt: skip
    return done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode(), done.returncode


def test_statements_and_errors_from_input() -> None:
    out, err, status = shell("select 1, 'a', null, 2.5;\n\n-- c\nselect 'a;b'; select 2; selec 3; select 4;\nselect 5")
    assert out == "1|a||2.5\na;b\n2\n5\n"
    assert err == 'Parse error near line 4: near "selec": syntax error\n  selec 3; select 4;\n  ^--- error here\n'
    assert status == 1


def test_caret_block_is_cut() -> None:
    text = "select " + "1+" * 40 + "nosuch from (select 1 as x) where x is not null and x is not null;"
    _, err, _ = shell(text)
    lines = err.splitlines()
    assert lines[0] == "Parse error near line 1: no such column: nosuch"
    assert len(lines[1]) == 2 + min(78, len(text) - (7 + 80 - 50))
    assert lines[2].index("^") == 2 + 50
    assert lines[1][52:58] == "nosuch"


def test_runtime_errors_carry_the_code() -> None:
    out, err, status = shell("create table t(a unique);\ninsert into t values(1);\ninsert into t values(1);\nselect 3;")
    assert (out, err, status) == ("3\n", "Runtime error near line 3: UNIQUE constraint failed: t.a (19)\n", 1)


def test_sql_arguments_stop_at_the_first_error() -> None:
    assert shell("", ":memory:", "select 1", "select nosuch", "select 2") == (
        "1\n", "Error: in prepare, no such column: nosuch\n  select nosuch\n         ^--- error here\n", 1,
    )  # fmt: skip
    out, err, status = shell("", ":memory:", "create table t(a unique); insert into t values(1),(1)")
    assert (out, err, status) == ("", "Error: stepping, UNIQUE constraint failed: t.a (19)\n", 19)


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("-list", "1|it's||1.5\n"),
        ("-csv", '1,"it\'s",,1.5\n'),
        ("-quote", "1,'it''s',NULL,1.5\n"),
        ("-json", '[{"a":1,"b":"it\'s","c":null,"d":1.5}]\n'),
        ("-line", "    a = 1\n    b = it's\n    c = \n    d = 1.5\n"),
        ("-html", "<TR><TD>1</TD>\n<TD>it&#39;s</TD>\n<TD></TD>\n<TD>1.5</TD>\n</TR>\n"),
        ("-box", "┌───┬──────┬───┬─────┐\n│ a │  b   │ c │  d  │\n├───┼──────┼───┼─────┤\n│ 1 │ it's │   │ 1.5 │\n└───┴──────┴───┴─────┘\n"),
        ("-markdown", "| a |  b   | c |  d  |\n|---|------|---|-----|\n| 1 | it's |   | 1.5 |\n"),
        ("-column", "1  it's     1.5\n"),
    ],
)
def test_modes(option: str, expected: str) -> None:
    assert shell("", option, ":memory:", "select 1 as a, 'it''s' as b, null as c, 1.5 as d") == (expected, "", 0)


def test_mode_command_sets_headers_and_separators() -> None:
    out, _, _ = shell(".mode column\nselect 1 as abc;\n.mode csv\n.headers on\nselect 'x y' as a;\n.mode insert tab\nselect 1.0 as a, x'00ff' as b;\n")
    assert out == 'abc\n---\n1  \na\r\n"x y"\r\nINSERT INTO tab(a,b) VALUES(1.0,X\'00ff\');\n'


def test_dump_reads_back(tmp_path: Path) -> None:
    script = (
        "create table t(a integer primary key, b text, c as (a+1)); insert into t values(1,'it''s'),(2,'l1\nl2'),(3,NULL);\n"
        "create table \"q t\"(x); insert into \"q t\" values(1e30),(x'00ff'),(-5);\ncreate index i on t(b);\ncreate view v as select * from t;\n"
        "create trigger tr after insert on t begin select 1; end;\ncreate table au(id integer primary key autoincrement); insert into au values(7);\n"
    )
    dump, err, status = shell(script + ".dump\n", str(tmp_path / "a.db"))
    assert (err, status) == ("", 0)
    assert dump.startswith("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE t(")
    assert "INSERT INTO t VALUES(2,replace('l1\\nl2','\\n',char(10)));\n" in dump
    assert "DELETE FROM sqlite_sequence;\nINSERT INTO sqlite_sequence VALUES('au',7);\n" in dump
    again, err, status = shell(dump + ".dump\n", str(tmp_path / "b.db"))
    assert (again, err, status) == (dump, "", 0)


def test_import_makes_a_table(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text('a,b\n1,"x ""y"""\n2\n3,z,extra\n')
    out, err, status = shell(".mode csv\n.import f.csv t\n.mode list\nselect * from t;\n.schema t\n", cwd=tmp_path)
    assert out == '1|x "y"\n2|\n3|z\nCREATE TABLE IF NOT EXISTS "t"(\n"a" TEXT, "b" TEXT);\n'
    assert err == (
        "f.csv:3: expected 2 columns but found 1 - filling the rest with NULL\nf.csv:4: expected 2 columns but found 3 - extras ignored\n"
    )
    assert status == 0


def test_dot_commands() -> None:
    out, err, status = shell(
        ".print a  b \"q r\"\n.headers maybe\n.nosuch\n.tables\ncreate table t1(a); create table t2(b); create index i1 on t1(a);\n.tables\n.indexes\n"
        ".schema t1\n.parameter set :x 'hello'\nselect :x, $y is null;\n.show\n.exit 3\nselect 9;\n"
    )
    assert out.startswith("a b q r\nt1  t2\ni1\nCREATE TABLE t1(a);\nCREATE INDEX i1 on t1(a);\nhello|1\n        echo: off\n")
    assert err == (
        'ERROR: Not a boolean value: "maybe". Assuming "no".\nError: unknown command or invalid arguments:  "nosuch". Enter ".help" for help\n'
    )
    assert status == 3


def test_bail_echo_changes_and_once(tmp_path: Path) -> None:
    out, _, status = shell(".echo on\nselect 1;\n.bail on\nselect nosuch;\nselect 2;\n")
    assert (out, status) == ("select 1;\n1\n.bail on\nselect nosuch;\n", 1)
    out, _, _ = shell("create table t(a);\n.changes on\ninsert into t values(1),(2);\n.once f.txt\nselect 'in file';\nselect 3;\n", cwd=tmp_path)
    assert out == "changes: 2   total_changes: 2\n3\nchanges: 2   total_changes: 2\n"
    assert (tmp_path / "f.txt").read_text() == "in file\nchanges: 2   total_changes: 2\n"


def test_go_and_slash_end_statements() -> None:
    assert shell("select 1\ngo\nselect 2\n/\nselect 3")[0] == "1\n2\n3\n"


def test_bytes_pass_through() -> None:
    out, _, _ = shell("select cast(x'61ff62' as text), 'é\udcff';\n")
    assert out == "a\udcffb|é\udcff\n"


def test_functions_of_the_shell() -> None:
    out, err, _ = shell(
        "select 'abc' regexp '^a.c$', decimal_add('1.10','2.2'), hex(sha3('abc',224)) like 'E642824C%', ieee754(45.25), 'a9'<'a10' collate uint;\n"
        "select count(*), sum(value) from generate_series(1,10);\nselect 'a' regexp 'a(';\n"
    )
    assert out == "1|3.30|1|ieee754(181,-2)|1\n10|55\n"
    assert err == "Runtime error near line 3: unmatched '('\n"


def test_cannot_open() -> None:
    out, err, status = shell("select 1;", "/nonexistent/folder/x.db")
    assert (out, status) == ("", 1)
    assert err == 'Error: unable to open database "/nonexistent/folder/x.db": unable to open database file\n'


def test_unknown_option() -> None:
    _, err, status = shell("", "-foo")
    assert err.endswith(": Error: unknown option: -foo\nUse -help for a list of options.\n")
    assert status == 1
