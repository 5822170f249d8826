"""Numbers as text and back."""
from __future__ import annotations

import random

import pytest

from sqlvec.values import numeric_text
from tests.values.oracle_values import random_real, real_connection, same


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"), (-0.0, "0.0"), (1e14, "100000000000000.0"), (1e15, "1.0e+15"), (0.0001, "0.0001"), (1e-5, "1.0e-05"),
        (1e100, "1.0e+100"), (5e-324, "4.94065645841247e-324"), (9007199254740993.0, "9.00719925474099e+15"), (float("inf"), "Inf"),
        (float("-inf"), "-Inf"), (123456789012345.0, "123456789012345.0"), (0.1 + 0.2, "0.3"),
    ],
)
def test_real_to_text(value: float, text: str) -> None:
    assert text == numeric_text.real_to_text(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "0.10000000000000000555"), (1e15, "1000000000000000.0"), (1.0 / 3, "0.33333333333333331482"), (1e100, "1.0e+100")],
)
def test_twenty_digits(value: float, text: str) -> None:
    assert text == numeric_text.format_real_20(value)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("5", 5), (" +5 ", 5), ("5.", 5.0), (".5", 0.5), ("1e5", 100000.0), ("9223372036854775808", 9.223372036854775808e18), ("0x10", None),
        ("1_000", None), ("", None), ("1e", None), ("inf", None), ("12 x", None), ("\u0661", None), ("\u00a05", None), ("+-5", None),
        ("-9223372036854775808", -9223372036854775808), ("00007", 7),
    ],
)
def test_number_of_text(text: str, number: int | float | None) -> None:
    assert same(number, numeric_text.number_of_text(text))


@pytest.mark.parametrize(
    ("text", "prefix", "integer"),
    [("5a", 5, 5), ("abc", 0, 0), ("1e2x", 100.0, 1), ("1e", 1, 1), (" 12.5.6", 12.5, 12), ("0x10", 0, 0), ("99999999999999999999", 1e20, 2**63 - 1)],
)
def test_prefixes(text: str, prefix: int | float, integer: int) -> None:
    assert same(prefix, numeric_text.number_prefix(text))
    assert integer == numeric_text.integer_prefix(text)


def test_writing_against_the_real_one() -> None:
    connection = real_connection()
    rng = random.Random(11)
    for _ in range(3000):
        value = random_real(rng)
        expected = connection.execute("select cast(?1 as text), printf('%!.20g', ?1), printf('%!.20e', ?1)", (value,)).fetchone()
        forms = (numeric_text.real_to_text(value), numeric_text.format_real_20(value), numeric_text.format_real_20e(value))
        assert expected == forms, value


def test_reading_against_the_real_one() -> None:
    connection = real_connection()
    rng = random.Random(12)
    for _ in range(3000):
        digits = "".join(rng.choice("0123456789") for _ in range(rng.randint(1, rng.choice([5, 10, 17, 22]))))
        point = rng.randint(0, len(digits))
        text = rng.choice(["", "-", "+"]) + digits[:point] + "." + digits[point:]
        if rng.random() < 0.5:
            text += "e" + str(rng.randint(-345, 330))
        if rng.random() < 0.2:
            text = "".join(rng.choice("0123456789..eE+- \tx") for _ in range(rng.randint(0, 7)))
        expected = connection.execute("select cast(?1 as real), ?1 + 0, cast(?1 as integer)", (text,)).fetchone()
        got = (numeric_text.real_prefix(text), numeric_text.number_prefix(text) + 0, numeric_text.integer_prefix(text))
        assert all(map(same, expected, got)), text
