"""Affinity, CAST, operators and comparison."""
from __future__ import annotations

import random

import pytest

from sqlvec.values import arithmetic, compare, storage, text
from tests.values.oracle_values import random_value, real_connection, same

OPERATORS = {
    "+": arithmetic.add, "-": arithmetic.subtract, "*": arithmetic.multiply, "/": arithmetic.divide, "%": arithmetic.remainder,
    "&": arithmetic.bit_and, "|": arithmetic.bit_or, "<<": arithmetic.shift_left, ">>": arithmetic.shift_right, "||": arithmetic.concat,
    "and": arithmetic.logical_and, "or": arithmetic.logical_or,
}


@pytest.mark.parametrize(
    ("declared", "affinity"),
    [
        ("FLOATING POINT", storage.INTEGER), ("STRING", storage.NUMERIC), ("BLOBTEXT", storage.TEXT), ("CHARBLOB", storage.TEXT),
        ("double", storage.REAL), ("", storage.BLOB), (None, storage.BLOB), ("varchar(10)", storage.TEXT), ("BLOB", storage.BLOB),
        ("decimal(10,5)", storage.NUMERIC), ("REALBLOB", storage.BLOB),
    ],
)
def test_affinity_of_type(declared: str | None, affinity: str) -> None:
    assert affinity == storage.affinity_of_type(declared)


def test_comparison_affinity() -> None:
    assert storage.comparison_affinity(storage.INTEGER, storage.TEXT) == storage.NUMERIC
    assert storage.comparison_affinity(storage.TEXT, storage.BLOB) is None
    assert storage.comparison_affinity(storage.TEXT, None) == storage.TEXT
    assert storage.comparison_affinity(None, storage.REAL) == storage.NUMERIC
    assert storage.comparison_affinity(None, None) is None
    assert storage.comparison_affinity(storage.BLOB, None) is None


@pytest.mark.parametrize("operator", OPERATORS)
def test_binary_operators_against_the_real_one(operator: str) -> None:
    connection = real_connection()
    rng = random.Random(operator)
    for _ in range(600):
        left, right = random_value(rng), random_value(rng)
        expected = connection.execute(f"select ? {operator} ?", (left, right)).fetchone()[0]
        assert same(expected, OPERATORS[operator](left, right)), (left, right)


def test_unary_operators_against_the_real_one() -> None:
    connection = real_connection()
    rng = random.Random(5)
    for _ in range(1000):
        value = random_value(rng)
        expected = connection.execute("select -?1, ~?1, not ?1, ?1 is true, ?1 is false, typeof(?1)", (value,)).fetchone()
        got = (
            arithmetic.negate(value), arithmetic.bit_not(value), arithmetic.not_(value), arithmetic.is_true(value), arithmetic.is_false(value),
            storage.typeof(value),
        )
        assert all(map(same, expected, got)), value


@pytest.mark.parametrize("name", ["TEXT", "BLOB", "NUMERIC", "INTEGER", "REAL"])
def test_cast_and_storing_against_the_real_one(name: str) -> None:
    connection = real_connection()
    connection.execute(f"create table t(a {name})")
    connection.execute("insert into t values(1)")
    affinity = getattr(storage, name)
    rng = random.Random(name)
    for _ in range(600):
        value = random_value(rng)
        assert same(connection.execute(f"select cast(? as {name})", (value,)).fetchone()[0], storage.cast(value, affinity)), value
        connection.execute("update t set a = ?", (value,))
        assert same(connection.execute("select a from t").fetchone()[0], storage.apply_affinity(value, affinity)), value


@pytest.mark.parametrize("name", ["BINARY", "NOCASE", "RTRIM"])
def test_comparison_against_the_real_one(name: str) -> None:
    connection = real_connection()
    collation = compare.Collations().lookup(name.lower())
    assert collation is not None
    rng = random.Random(name)
    letters = ["a", "b", "A", "B", " ", "\0", "z", "Z", "é", "\uffff", "\U0001f600", "[", "`"]
    for _ in range(1500):
        if rng.random() < 0.6:
            left: object = "".join(rng.choice(letters) for _ in range(rng.randint(0, 4)))
            right: object = left.swapcase() + " " * rng.randint(0, 2) if rng.random() < 0.3 else "".join(rng.choice(letters) for _ in range(3))  # type: ignore[attr-defined]
        else:
            left, right = random_value(rng), random_value(rng)
        expected = connection.execute(f"select (?1 > ?2 collate {name}) - (?1 < ?2 collate {name})", (left, right)).fetchone()[0]
        if expected is None:
            continue
        first, second = compare.sort_key(left, collation), compare.sort_key(right, collation)  # type: ignore[arg-type]
        assert expected == compare.compare(left, right, collation), (left, right)  # type: ignore[arg-type]
        assert expected == (first > second) - (first < second), (left, right)
        equal_keys = compare.hash_key(left, collation) == compare.hash_key(right, collation)  # type: ignore[arg-type]
        assert (expected == 0) == equal_keys, (left, right)


def test_user_collation_keys() -> None:
    collations = compare.Collations()
    collations.register("backwards", lambda left, right: (left < right) - (left > right))
    collation = collations.lookup("BackWards")
    assert collation is not None
    assert sorted(["a", "b"], key=collation.key) == ["b", "a"]
    assert collations.names()[0] == "backwards"
    collations.register("backwards", None)
    assert collations.lookup("backwards") is None


def test_utf16_binary_compares_stored_bytes() -> None:
    collation = compare.Collations(text.UTF16LE).binary
    # In little-endian bytes U+0100 is 00 01 and sorts before 'a', 61 00.
    assert collation.compare("\u0100", "a") == -1
    assert collation.key("\u0100") < collation.key("a")
