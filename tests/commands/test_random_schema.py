"""Random CREATE, ALTER, DROP, REINDEX, ANALYZE, VACUUM against SQLite 3.40.1: same sqlite_schema with root pages, same rows, same errors."""
from __future__ import annotations

import random

import pytest

import sqlvec

TABLES = ("t", "u", '"v w"')
COLUMNS = ("a", "b", '"c d"', "e")
INDEXES = ("i", "j", "k")


def column_definition(rng: random.Random, name: str) -> str:
    kind = rng.choice(("", " INT", " TEXT", " REAL", " INTEGER", " varchar(10)", " blob"))
    extra = rng.choice(("", "", "", " UNIQUE", " NOT NULL DEFAULT 'x'", " DEFAULT (1+2)", f" CHECK({name} IS NOT 99)", " COLLATE nocase", " PRIMARY KEY"))
    return f"{name}{kind}{extra}"


def create_table(rng: random.Random) -> str:
    table = rng.choice(TABLES)
    names = rng.sample(COLUMNS, rng.randint(2, 4))
    columns = [column_definition(rng, name) for name in names]
    columns = [column if position == 0 else column.replace(" PRIMARY KEY", "") for position, column in enumerate(columns)]
    parts = list(columns)
    if rng.random() < 0.3:
        parts.append(f"UNIQUE({', '.join(rng.sample(names, 2))})")
    if rng.random() < 0.2:
        parts.append(f"CHECK({names[0]} <> {names[1]} OR {table}.{names[1]} > 5)")
    if rng.random() < 0.3:
        parts.append(f"FOREIGN KEY({names[-1]}) REFERENCES {rng.choice(TABLES)}({rng.choice(COLUMNS)})")
    options = " WITHOUT ROWID" if "PRIMARY KEY" in parts[0] and rng.random() < 0.4 else ""
    return f"CREATE TABLE {rng.choice(('', 'IF NOT EXISTS '))}{table}({', '.join(parts)}){options}"


def statement(rng: random.Random) -> str:
    table, other, column, index = rng.choice(TABLES), rng.choice(TABLES), rng.choice(COLUMNS), rng.choice(INDEXES)
    roll = rng.random()
    if roll < 0.25:
        return create_table(rng)
    if roll < 0.35:
        return f"CREATE {rng.choice(('', 'UNIQUE '))}INDEX {index} ON {table}({column}{rng.choice(('', ' DESC', ' COLLATE rtrim'))}, " \
               f"{rng.choice(COLUMNS)}){rng.choice(('', '', f' WHERE {column} > 3'))}"
    if roll < 0.42:
        return f"INSERT INTO {table} SELECT value, value % 3, 'r' || value, value * 1.5 FROM (SELECT 1 AS value UNION SELECT 2 UNION SELECT 7 UNION SELECT 8)"
    if roll < 0.48:
        return f"INSERT OR IGNORE INTO {table}({column}) VALUES ({rng.randint(1, 9)}), ('x'), (NULL)"
    return rng.choice((
        f"DROP TABLE {table}", f"DROP TABLE IF EXISTS {table}", f"DROP INDEX {index}", "DROP VIEW w", "DROP TRIGGER g",
        f"ALTER TABLE {table} RENAME TO {other}", f"ALTER TABLE {table} RENAME COLUMN {column} TO {rng.choice(COLUMNS)}",
        f"ALTER TABLE {table} RENAME {column} TO {rng.choice(('n1', 'n2'))}", f"ALTER TABLE {table} ADD COLUMN {column_definition(rng, rng.choice(COLUMNS))}",
        f"ALTER TABLE {table} DROP COLUMN {column}",
        f"CREATE VIEW w AS SELECT x.{column}, y.* FROM {table} AS x, {other} y WHERE x.a = y.b OR {other}.a > 1",
        f"CREATE VIEW w AS SELECT {column}, {table}.a AS q FROM {table} WHERE b IN (SELECT a FROM {other})",
        f"CREATE TRIGGER g AFTER INSERT ON {table} WHEN new.{column} > 100 BEGIN "
        f"UPDATE {other} SET {column} = new.a WHERE b = 1; DELETE FROM {table} WHERE a = new.b; END",
        f"CREATE TABLE {other} AS SELECT {column}, a + 1, count(*) AS n FROM {table} GROUP BY 1",
        "REINDEX", f"REINDEX {table}", "ANALYZE", f"ANALYZE {table}", "VACUUM",
        f"UPDATE {table} SET a = a", "BEGIN", "COMMIT", "ROLLBACK",
    ))


def outcome(connection, sql: str):
    try:
        return connection.execute(sql).fetchall()
    except Exception as error:
        return type(error).__name__, str(error)


def state(connection):
    schema = outcome(connection, "SELECT rowid, * FROM sqlite_schema")
    names = [row[2] for row in schema if row[1] == "table"] if isinstance(schema, list) else []
    rows = [outcome(connection, f'SELECT * FROM "{name}"') for name in names]
    return schema, rows, outcome(connection, "PRAGMA schema_version"), outcome(connection, "PRAGMA page_count")


def run_script(oracle, seed: int, length: int) -> None:
    rng = random.Random(seed)
    pair = [oracle.connect(":memory:", isolation_level=None), sqlvec.connect(":memory:", isolation_level=None)]
    done: list[str] = []
    for _ in range(length):
        sql = statement(rng)
        done.append(sql)
        expected, actual = (outcome(connection, sql) for connection in pair)
        assert expected == actual, "\n".join([*done, f"expected {expected}", f"actual   {actual}"])
        expected, actual = (state(connection) for connection in pair)
        assert expected == actual, "\n".join([*done, f"expected {expected}", f"actual   {actual}"])
    assert pair[1].execute("PRAGMA integrity_check").fetchall() == [("ok",)], "\n".join(done)
    for connection in pair:
        connection.close()


@pytest.mark.parametrize("seed", range(6))
def test_same_schema(oracle, seed: int) -> None:
    run_script(oracle, seed, 40)
