"""Random INSERT, UPDATE, DELETE, UPSERT and REPLACE against SQLite 3.40.1: same rows, same errors, same counters after every statement."""
from __future__ import annotations

import random

import pytest

import sqlvec

SCHEMAS = {
    "plain": ["CREATE TABLE t(a INTEGER PRIMARY KEY, b UNIQUE, c NOT NULL DEFAULT 7, d CHECK(d < 50))", "CREATE INDEX tc ON t(c, d)"],
    "conflict": [
        "CREATE TABLE t(a UNIQUE ON CONFLICT REPLACE, b UNIQUE ON CONFLICT IGNORE, c NOT NULL ON CONFLICT REPLACE DEFAULT 3, d UNIQUE)",
        "CREATE UNIQUE INDEX tcd ON t(c, d)",
    ],
    "without_rowid": [
        "CREATE TABLE t(a, b, c, d, PRIMARY KEY(b DESC, a)) WITHOUT ROWID",
        "CREATE UNIQUE INDEX tc ON t(c)",
        "CREATE INDEX td ON t(d COLLATE NOCASE)",
    ],
    "generated": [
        "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c AS (a + b), d INT, e TEXT AS (b || d) STORED UNIQUE)",
        "CREATE INDEX tp ON t(b) WHERE d > 10",
        "CREATE INDEX tx ON t(abs(d), c)",
    ],
    "triggers": [
        "CREATE TABLE t(a INTEGER PRIMARY KEY, b UNIQUE, c, d)",
        "CREATE TABLE log(what, x, y)",
        "CREATE TRIGGER t1 BEFORE INSERT ON t WHEN new.c > 5 BEGIN INSERT INTO log VALUES('bi', new.a, new.b); END",
        "CREATE TRIGGER t2 AFTER INSERT ON t BEGIN INSERT INTO log VALUES('ai', new.a, (SELECT count(*) FROM t)); "
        "DELETE FROM t WHERE a = new.a - 10; END",
        "CREATE TRIGGER t3 AFTER UPDATE OF b, c ON t BEGIN INSERT INTO log VALUES('au', old.b, new.b); "
        "UPDATE t SET d = d + 1 WHERE a = new.a + 1; END",
        "CREATE TRIGGER t4 BEFORE DELETE ON t BEGIN INSERT INTO log VALUES('bd', old.a, old.d); SELECT CASE WHEN old.d = 13 THEN RAISE(IGNORE) END; END",
        "CREATE TRIGGER t5 BEFORE UPDATE ON t WHEN new.d = 7 BEGIN SELECT RAISE(ABORT, 'seven'); END",
    ],
    "foreign_keys": [
        "PRAGMA foreign_keys = ON",
        "CREATE TABLE t(a INTEGER PRIMARY KEY, b UNIQUE, c, d REFERENCES t(b) ON DELETE CASCADE ON UPDATE CASCADE)",
        "CREATE TABLE child(x REFERENCES t ON DELETE SET NULL ON UPDATE CASCADE, y REFERENCES t(b) DEFERRABLE INITIALLY DEFERRED)",
        "CREATE TABLE strict_child(z REFERENCES t(a) ON DELETE RESTRICT)",
    ],
}
COLUMNS = ("a", "b", "c", "d")


def value(rng: random.Random) -> str:
    return rng.choice(("NULL", "'x'", "'X'", "'12'", "2.5", "7.0", "x'61'", *(str(rng.randint(-2, 20)) for _ in range(12))))


def condition(rng: random.Random) -> str:
    column = rng.choice(COLUMNS)
    return rng.choice((
        f"{column} = {value(rng)}", f"{column} > {rng.randint(0, 20)}", f"{column} IS NULL", "a IN (SELECT max(a) FROM t)",
        f"{column} BETWEEN 3 AND {rng.randint(4, 15)}", "1",
    ))


def assignments(rng: random.Random, names: tuple[str, ...]) -> str:
    chosen = rng.sample(names, rng.randint(1, 2))
    return ", ".join(
        f"{name} = " + rng.choice((value(rng), f"{rng.choice(names)} + 1", "(SELECT max(a) FROM t) + 1", f"{name} || 'z'")) for name in chosen
    )


def statement(rng: random.Random, kind: str) -> str:
    names = ("a", "b", "d") if kind == "generated" else COLUMNS
    either = rng.choice(("", "", "", " OR IGNORE", " OR REPLACE", " OR FAIL", " OR ROLLBACK", " OR ABORT"))
    roll = rng.random()
    if roll < 0.45:
        chosen = sorted(rng.sample(names, rng.randint(2, len(names))))
        rows = ", ".join("(" + ", ".join(value(rng) for _ in chosen) + ")" for _ in range(rng.choice((1, 1, 2, 3))))
        upsert = ""
        if not either and rng.random() < 0.4:
            target = {"without_rowid": "(c)", "conflict": "(d)", "generated": "(a)"}.get(kind, rng.choice(("(a)", "(b)")))
            upsert = rng.choice((" ON CONFLICT DO NOTHING", f" ON CONFLICT{target} DO UPDATE SET {assignments(rng, names)} WHERE excluded.a IS NOT 3"))
        return f"INSERT{either} INTO t({', '.join(chosen)}) VALUES {rows}{upsert}"
    if roll < 0.5:
        return f"INSERT{either} INTO t({', '.join(names)}) SELECT {', '.join(rng.sample(names, len(names)))} FROM t WHERE {condition(rng)}"
    if roll < 0.8:
        return f"UPDATE{either} t SET {assignments(rng, names)} WHERE {condition(rng)}"
    if kind == "foreign_keys" and roll < 0.9:
        return rng.choice((
            f"INSERT INTO child VALUES({value(rng)}, {value(rng)})", f"INSERT INTO strict_child VALUES({value(rng)})",
            "DELETE FROM strict_child", "DELETE FROM child",
        ))
    return f"DELETE FROM t WHERE {condition(rng)}"


def outcome(connection, sql: str):
    try:
        cursor = connection.execute(sql)
        rows = cursor.fetchall()
    except Exception as error:
        return type(error).__name__, str(error)
    return rows


def state(connection, tables: list[str]):
    counters = "SELECT changes(), total_changes(), last_insert_rowid()"
    return [connection.execute(counters).fetchall(), *(sorted(map(repr, connection.execute(f"SELECT * FROM {table}"))) for table in tables)]


def run_script(oracle, kind: str, seed: int, length: int) -> None:
    rng = random.Random(f"{kind}{seed}")
    pair = [oracle.connect(":memory:", isolation_level=None), sqlvec.connect(":memory:", isolation_level=None)]
    done: list[str] = []
    for sql in SCHEMAS[kind]:
        for connection in pair:
            connection.execute(sql)
    if rng.random() < 0.4:
        for connection in pair:
            connection.execute("PRAGMA recursive_triggers = ON")
        done.append("PRAGMA recursive_triggers = ON")
    tables = [row[0] for row in pair[0].execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for _ in range(length):
        sql = rng.choice(("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "RELEASE s", "ROLLBACK TO s")) if rng.random() < 0.12 else statement(rng, kind)
        done.append(sql)
        expected, actual = (outcome(connection, sql) for connection in pair)
        assert expected == actual, "\n".join([*SCHEMAS[kind], *done, f"expected {expected}", f"actual   {actual}"])
        expected, actual = (state(connection, tables) for connection in pair)
        assert expected == actual, "\n".join([*SCHEMAS[kind], *done, f"expected {expected}", f"actual   {actual}"])
    assert pair[1].execute("PRAGMA integrity_check").fetchall() == [("ok",)], ";\n".join([*SCHEMAS[kind], *done])
    for connection in pair:
        connection.close()


@pytest.mark.parametrize("kind", list(SCHEMAS))
@pytest.mark.parametrize("seed", range(3))
def test_same_changes(oracle, kind: str, seed: int) -> None:
    run_script(oracle, kind, seed, 40)
