"""Every deterministic scalar function against the real engine, with arguments of all storage classes."""
from __future__ import annotations

import random
import sqlite3
import zlib

import pytest

from sqlvec import errors
from sqlvec.functions.builtin_table import ROWS
from sqlvec.functions.registry import FunctionContext, FunctionRegistry
from sqlvec.values.compare import Collations
from tests.values.oracle_values import random_value, real_connection, same

# Not comparable call by call: random numbers, counters, clocks, hints that the planner checks.
SKIPPED = {
    "random", "randomblob", "changes", "total_changes", "last_insert_rowid", "load_extension", "sqlite_log", "match", "current_date",
    "current_time", "current_timestamp", "likelihood", "subtype",
}
OWN_TESTS = {"date", "time", "datetime", "julianday", "strftime", "unixepoch", "printf", "format"}
SCALARS = sorted(
    {name for name, rows in ROWS.items() if any("aggregate" not in row[3] and row[3] != "window" for row in rows)} - SKIPPED - OWN_TESTS
)
SCALARS = [name for name in SCALARS if "json" not in name and "->" not in name]


def call(name: str, arguments: list[object]) -> object:
    """Call a function as the engines do; an error becomes its text."""
    function = FunctionRegistry().lookup(name, len(arguments))
    head: list[object] = []
    if function.context:
        head = [FunctionContext()]
    elif function.uses_collation:
        head = [Collations().binary]
    try:
        return function.call(*head, *arguments)
    except errors.SqlError as error:
        return ("error", error.message)


def real_call(connection: sqlite3.Connection, name: str, arguments: list[object]) -> object:
    try:
        return connection.execute(f"select {name}({','.join('?' * len(arguments))})", arguments).fetchone()[0]
    except sqlite3.Error as error:
        return ("error", str(error))


def arities(name: str) -> list[int]:
    counts: list[int] = []
    for low, high, _, words in ROWS[name]:
        if "aggregate" not in words:
            counts.extend(range(low, (max(low, 4) if high < 0 else high) + 1))
    return counts


def pattern_arguments(rng: random.Random, count: int) -> list[object]:
    pattern = "".join(rng.choice("aAbBcé%%__[]^-?*\\X") for _ in range(rng.randint(0, 6)))
    value = "".join(rng.choice("aAbBcCéX-^]") for _ in range(rng.randint(0, 7)))
    return [pattern, value, rng.choice(["\\", "X", "%", "_", "", "ab", None, "a"])][:count]


@pytest.mark.parametrize("name", SCALARS)
def test_scalar(name: str) -> None:
    connection = real_connection()
    rng = random.Random(zlib.crc32(name.encode()))
    for _ in range(250):
        count = rng.choice(arities(name))
        arguments: list[object] = [random_value(rng) for _ in range(count)]
        if name in ("like", "glob") and rng.random() < 0.9:
            arguments = pattern_arguments(rng, count)
        if name == "zeroblob":
            arguments = [rng.choice([0, 1, -1, 5, "3", 2.5, None, "x", 2000000000, 2**40])]
        expected = real_call(connection, name, arguments)
        assert same(expected, call(name, arguments)), arguments


def random_format(rng: random.Random) -> str:
    pieces = []
    for _ in range(rng.randint(1, 2)):
        pieces.append(rng.choice(["", "", "a", "é"]))
        pieces.append("%" + "".join(rng.choice("-+ 0#!,") for _ in range(rng.choice([0, 0, 1, 1, 2, 3]))))
        pieces.append(rng.choice(["", "", "5", "12", "3", "*", "30"]))
        pieces.append(rng.choice(["", "", ".0", ".1", ".2", ".5", ".10", ".15", ".17", ".20", ".*", ".28"]))
        pieces.append(rng.choice(["", "", "l", "ll"]))
        pieces.append(rng.choice("diuxXocszqQwfeEgGfgdsr%nph"))
    return "".join(pieces)


def test_printf() -> None:
    connection = real_connection()
    rng = random.Random(3)
    for _ in range(3000):
        template = random_format(rng)
        small = "*" in template
        count = rng.randint(0, 4)
        rest = [rng.choice([0, 1, 3, -5, 7, 12, 2.5, "4", "abc", None]) if small else random_value(rng) for _ in range(count)]
        arguments = [template, *rest]
        assert same(real_call(connection, "printf", arguments), call("printf", arguments)), arguments


@pytest.mark.parametrize(
    ("template", "arguments", "text"),
    [
        ("%d|%5d|%-5d|%05d|%+d|% d", (1, 2, 3, 4, 5, 6), "1|    2|3    |00004|+5| 6"),
        ("%,d %x %X %#x %o", (1234567, 255, 255, 255, 8), "1,234,567 ff FF 0xff 10"),
        ("%.2f %.1f %.0f %.2f", (2.675, 0.25, 0.5, 1.005), "2.68 0.3 1 1.01"),
        ("%e %g %!g %G", (12345.678, 0.0001, 5.0, 1e20), "1.234568e+04 0.0001 5.0 1E+20"),
        ("%q %Q %w %Q", ("it's", "it's", 'a"b', None), "it''s 'it''s' a\"\"b NULL"),
        ("%s %z %c %.3c %%", ("x", "y", "abc", "xy"), "x y a xxx %"),
        ("%r %r %r %r", (1, 2, 3, 11), "1st 2nd 3rd 11th"),
        ("abc%y", (), "abc"),
        ("%d %s %f", (), "0  0.000000"),
    ],
)
def test_printf_texts(template: str, arguments: tuple[object, ...], text: str) -> None:
    assert text == call("printf", [template, *arguments])
